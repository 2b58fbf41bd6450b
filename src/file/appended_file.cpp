#include "file/appended_file.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/check.hpp"
#include "file/section_file.hpp"

namespace nw {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

}  // namespace

AppendedFile::AppendedFile(std::string path, Open how)
    : path_(std::move(path)),
      descriptor_(open(path_.c_str(),
                       O_RDWR | O_CLOEXEC | (how == Open::empty ? O_CREAT | O_TRUNC : 0), 0666)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
    // A device has no end to go to.
    if (const off_t end = lseek(descriptor_, 0, SEEK_END); end > 0)
        written_bytes_ = static_cast<std::uint64_t>(end);
    buffer_.reserve(buffer_bytes);
}

AppendedFile::~AppendedFile() {
    try {
        flush();
    } catch (const MachineError&) {
        // Who wanted to know has called flush().
    }
    close(descriptor_);
}

void AppendedFile::append(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= buffer_bytes) flush();
}

void AppendedFile::flush() {
    std::size_t done = 0;
    while (done < buffer_.size()) {
        const ssize_t count = write(descriptor_, buffer_.data() + done, buffer_.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            const int reason = errno;
            buffer_.erase(0, done);
            errno = reason;
            fail("writing");
        }
        done += static_cast<std::size_t>(count);
        written_bytes_ += static_cast<std::size_t>(count);
    }
    buffer_.clear();
}

void AppendedFile::sync() {
    flush();
    // EINVAL: a pipe or a device, which holds nothing back.
    if (sync_descriptor(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail("writing");
}

void AppendedFile::truncate(std::uint64_t bytes) {
    flush();
    const auto end = static_cast<off_t>(bytes);
    if (ftruncate(descriptor_, end) != 0 || lseek(descriptor_, end, SEEK_SET) != end)
        fail("truncating");
    written_bytes_ = bytes;
}

std::string AppendedFile::read(std::uint64_t from, std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got =
            pread(descriptor_, bytes.data() + done, count - done, static_cast<off_t>(from + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("reading");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

void AppendedFile::make_nameless() {
    if (unlink(path_.c_str()) != 0) fail("removing the name of");
}

void AppendedFile::fail(const char* what) const {
    throw MachineError(fmt::format("{} {} failed: {}", what, path_, std::strerror(errno)));
}

}  // namespace nw
