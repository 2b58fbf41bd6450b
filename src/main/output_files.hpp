// Files and folders that the user named for results. That they can be written is found out before
// the run and not after hours of it.
#pragma once

#include <string>

namespace nw {

// Creates the folder with its parents, and tries that a file can be made in it. Throws SetupError.
void prepare_output_directory(const std::string& path);

// A file that is there as a whole or not at all: written beside its place and renamed into it.
class WholeFile {
  public:
    // `option` is what error messages call it. Throws SetupError if it cannot be written. An empty
    // path is no file: write() then does nothing.
    WholeFile(std::string option, std::string path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    // Once. Throws MachineError.
    void write(const std::string& text);

  private:
    std::string option_;
    std::string path_;
    std::string temporary_path_;  // empty: nothing to remove
};

}  // namespace nw
