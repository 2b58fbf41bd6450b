// A file of sections, each known by where it lies, how long it is and its checksum: the large files of
// a saved run. Which sections there are stands elsewhere (saved_run.hpp).
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "base/checksum.hpp"
#include "file/appended_file.hpp"

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

// Null, with errno, where there is no file that can be read: also for folders and pipes, of which the
// first could be opened and the second would be waited for.
OpenFile open_to_read(const std::string& path) noexcept;
}  // namespace detail

class SectionWriter {
  public:
    // Throws MachineError, as all do here, with the file's name and what the kernel says. There must be no
    // file of that name.
    explicit SectionWriter(const std::string& path);

    // Appends to the section under way.
    void write(const void* bytes, std::size_t size);
    // What was written since the last call.
    Section end_section();
    // Everything is on the disk, as far as the kernel knows.
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

    // Reads the section once, and then stands at its beginning. Throws SetupError unless it is whole.
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
