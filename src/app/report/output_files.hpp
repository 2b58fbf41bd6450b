// SPDX-License-Identifier: Apache-2.0
// Files and folders that the user has named for results. Whether they can be written is checked
// before the run, and not at its end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/options/option_table.hpp"
#include "results/formats/kept_tables.hpp"
#include "util/file/part_file.hpp"

namespace nw {

// Creates the folder and its parents, and checks that a file can be created in it. Several ranks
// may call this at the same time. `option`: the option's name for messages. Throws SetupError.
void prepare_folder(std::string_view option, const std::string& path);

// Throws SetupError if --stats or --trace would overwrite each other's file or a table.
void check_different_files(const KeptTables& tables, const Settings& settings);

// A file that exists either completely or not at all, also after a power failure: it is written
// under a temporary name and then renamed. If the path is a symbolic link, the link remains and its
// target is replaced. Devices, pipes and descriptors (/dev/null, a FIFO, /dev/stdout) must not be
// replaced: the constructor opens them, and append() writes to them directly.
class WholeFile {
  public:
    // `option`: the option's name for messages. Throws SetupError if the file cannot be written.
    // With an empty path the object has no effect. If the path is a FIFO without a reader, the
    // constructor tries to open it for 5 s.
    WholeFile(std::string option, std::string path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    // Returns one line about the files beside the target that were not removed, because they may
    // belong to a run on another machine. Empty if there are no such files.
    std::string notice() const;

    // append(), complete() and write() throw MachineError. Call complete() exactly once, after
    // append().
    void append(std::string_view text);
    void complete();
    // append(), then complete().
    void write(std::string_view text) {
        append(text);
        complete();
    }

  private:
    int prepare();  // 0, or a value of errno
    [[noreturn]] void fail() const;

    std::string option_;
    std::string path_;              // as the user has written it
    std::string target_;            // path_ with its symbolic links resolved
    std::optional<PartFile> part_;  // if a regular file is created or replaced
    int descriptor_ = -1;           // of the open file or device, or -1
};

}  // namespace nw
