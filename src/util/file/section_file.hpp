// SPDX-License-Identifier: Apache-2.0
// A file of sections: the large files of a saved run. A section is identified by its offset, its
// length and its checksum. The list of sections is stored elsewhere (saved_run.hpp).
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "util/checksum.hpp"
#include "util/file/appended_file.hpp"

namespace nw {

struct Section {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    Hash128 checksum;
};

namespace detail {
struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

// Returns null, with errno, if the path is not a regular file that can be read. This includes
// folders, which fopen() would open, and pipes, on which a reader would wait.
OpenFile open_to_read(const std::string& path) noexcept;
}  // namespace detail

class SectionWriter {
  public:
    // Creates the file. Requires: no file has that name. All functions of this class throw
    // MachineError with the file's name and the system's reason.
    explicit SectionWriter(const std::string& path);

    // Appends to the present section.
    void write(const void* bytes, std::size_t size);
    // Ends the present section, which contains the bytes since the last call, and returns its
    // position and checksum.
    Section end_section();
    // Waits until everything is on the disk, as far as the kernel reports it.
    void finish();

  private:
    AppendedFile file_;
    Checksum checksum_;
    Section section_;
};

class SectionReader {
  public:
    // Throws SetupError if the file cannot be opened.
    explicit SectionReader(std::string path);

    // Reads the section once to verify the checksum, then goes back to the beginning of the
    // section. Throws SetupError if the section is damaged.
    void open(const Section& section);
    // Throws SetupError at the end of the file.
    void read(void* bytes, std::size_t size);

  private:
    void seek(std::uint64_t offset);
    [[noreturn]] void refuse() const;

    std::string path_;
    detail::OpenFile file_;
};

}  // namespace nw
