// Files and folders that the user named for results. That they can be written is found out before
// the run and not after hours of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "file/part_file.hpp"
#include "formats/kept_tables.hpp"
#include "options/option_table.hpp"

namespace nw {

// Creates the folder with its parents, and tries that a file can be made in it. Several ranks may do so
// at a time. `option` is what error messages call it. Throws SetupError.
void prepare_folder(std::string_view option, const std::string& path);

// Throws SetupError where --stats or --trace would be written over each other, or over a table.
void check_different_files(const KeptTables& tables, const Settings& settings);

// A file that is there as a whole or not at all, also after a power cut: written beside its place and
// renamed into it. A symbolic link keeps its place, and what it leads to is written. Devices, pipes and
// descriptors (/dev/null, a FIFO, /dev/stdout) must not be replaced: they are opened at once and
// written to.
class WholeFile {
  public:
    // `option` is what error messages call it. Throws SetupError if it cannot be written. An empty
    // path is no file: the others then do nothing. A FIFO is given some seconds
    // until somebody reads it.
    WholeFile(std::string option, std::string path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    // What was found beside it, and left alone; empty: nothing. One line.
    std::string notice() const;

    // Throw MachineError. Requires of complete(): once, and something was appended.
    void append(std::string_view text);
    void complete();
    // Both.
    void write(std::string_view text) {
        append(text);
        complete();
    }

  private:
    int prepare();  // 0, or what errno says
    [[noreturn]] void fail() const;

    std::string option_;
    std::string path_;              // as the user wrote it
    std::string target_;            // where it leads
    std::optional<PartFile> part_;  // of what is replaced
    int descriptor_ = -1;           // of what must not be, or -1
};

}  // namespace nw
