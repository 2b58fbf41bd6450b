// A file that is written at its end, through a buffer of its own. Not std::ofstream, which cannot say
// when the bytes are on the disk, how many there are, or why the disk refused them.
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
    // Emptied, or made; gone on with, where it must be there; or made where nothing has that name.
    enum class Open { empty, as_it_is, new_name };

    // Throws std::system_error.
    AppendedFile(std::string path, Open open);
    ~AppendedFile();  // writes what is in the buffer, if it can be written
    AppendedFile(const AppendedFile&) = delete;
    AppendedFile& operator=(const AppendedFile&) = delete;

    const std::string& path() const noexcept { return path_; }
    std::uint64_t bytes() const noexcept { return written_bytes_ + buffer_.size(); }

    // The others throw MachineError with the path and the system's reason.
    void append(std::string_view bytes);
    void flush();
    void sync();  // flush, and wait until the disk has it
    void truncate(std::uint64_t bytes);

    // As many bytes as there are from there on, at most `count`. Requires: flushed.
    std::string read(std::uint64_t from, std::size_t count) const;

    // Removes the file, unless the path belongs to another file by now.
    void remove() noexcept;

  private:
    // How many of them were written, past the buffer; if not all, errno says why.
    std::size_t write_out(std::string_view bytes) noexcept;

    std::string path_;
    int descriptor_;
    std::uint64_t written_bytes_ = 0;
    std::string buffer_;
};

}  // namespace nw
