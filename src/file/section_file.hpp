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
    // Throws MachineError, as all do here, with the file's name and what the kernel says.
    explicit SectionWriter(std::string path);

    // Appends to the section under way.
    void write(const void* bytes, std::size_t size);
    // What was written since the last call.
    Section end_section();
    // Everything is on the disk, as far as the kernel knows.
    void finish();

  private:
    std::string path_;
    detail::OpenFile file_;
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

// As fsync(), but that it is not interrupted: file systems in user space may be, by any signal.
int sync_descriptor(int descriptor) noexcept;

// Throws MachineError. What stands in the folder under a name is then on the disk under that name.
void sync_folder(const std::string& path);

}  // namespace nw
