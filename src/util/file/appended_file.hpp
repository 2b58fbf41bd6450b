// SPDX-License-Identifier: Apache-2.0
// A file that is written only at its end, through a buffer. std::ofstream is not used, because it
// cannot report when the bytes are on the disk, how many bytes were written, or why a write failed.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nw {

class AppendedFile {
  public:
    // empty: the file is created, or emptied. as_it_is: the file must exist, and its content is
    // kept. new_name: the file is created and must not exist.
    enum class Open { empty, as_it_is, new_name };

    // Throws std::system_error.
    AppendedFile(std::string path, Open open);
    ~AppendedFile();  // writes the buffer; ignores errors
    AppendedFile(const AppendedFile&) = delete;
    AppendedFile& operator=(const AppendedFile&) = delete;

    const std::string& path() const noexcept { return path_; }
    std::uint64_t bytes() const noexcept { return written_bytes_ + buffer_.size(); }

    // These functions and read() throw MachineError with the path and the system's reason.
    void append(std::string_view bytes);
    void flush();
    void sync();  // flush(), then waits until the bytes are on the disk
    void truncate(std::uint64_t bytes);

    // Returns at most `count` bytes, beginning at offset `from`; fewer if the file ends before.
    // Requires: flush() was called after the last append().
    std::string read(std::uint64_t from, std::size_t count) const;

    // Removes the file, unless the path belongs to another file by now.
    void remove() noexcept;

  private:
    // Writes the bytes without the buffer. Returns the number of bytes that were written. If fewer
    // bytes than given were written, errno contains the reason.
    std::size_t write_out(std::string_view bytes) noexcept;

    std::string path_;
    int descriptor_;
    std::uint64_t written_bytes_ = 0;
    std::string buffer_;
};

}  // namespace nw
