// SPDX-License-Identifier: Apache-2.0
#include "util/file/appended_file.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/check.hpp"
#include "util/file/disk.hpp"

namespace nw {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

int flags_for(AppendedFile::Open how) noexcept {
    switch (how) {
        case AppendedFile::Open::empty:
            return O_CREAT | O_TRUNC;
        case AppendedFile::Open::new_name:
            return O_CREAT | O_EXCL;
        case AppendedFile::Open::as_it_is:
            break;
    }
    return 0;
}

}  // namespace

AppendedFile::AppendedFile(std::string path, Open how)
    : path_(std::move(path)),
      descriptor_(open(path_.c_str(), O_RDWR | O_CLOEXEC | flags_for(how), 0666)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
    // For a device, lseek() fails or returns 0.
    if (const off_t end = lseek(descriptor_, 0, SEEK_END); end > 0)
        written_bytes_ = static_cast<std::uint64_t>(end);
    buffer_.reserve(buffer_bytes);
}

AppendedFile::~AppendedFile() {
    try {
        flush();
    } catch (const MachineError&) {
        // Ignored: a caller that must detect errors calls flush() before.
    }
    close(descriptor_);
}

void AppendedFile::append(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > buffer_bytes) flush();
    if (bytes.size() <= buffer_bytes)
        buffer_ += bytes;
    else if (write_out(bytes) < bytes.size())
        fail_with_errno(path_, "written");
}

void AppendedFile::flush() {
    buffer_.erase(0, write_out(buffer_));
    if (!buffer_.empty()) fail_with_errno(path_, "written");
}

std::size_t AppendedFile::write_out(std::string_view bytes) noexcept {
    const std::size_t done = write_all(descriptor_, bytes);
    written_bytes_ += done;
    return done;
}

void AppendedFile::sync() {
    flush();
    if (!sync_descriptor(descriptor_)) fail_with_errno(path_, "written");
}

void AppendedFile::truncate(std::uint64_t bytes) {
    flush();
    const auto end = static_cast<off_t>(bytes);
    if (ftruncate(descriptor_, end) != 0 || lseek(descriptor_, end, SEEK_SET) != end)
        fail_with_errno(path_, "cut");
    written_bytes_ = bytes;
}

std::string AppendedFile::read(std::uint64_t from, std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got =
            pread(descriptor_, bytes.data() + done, count - done, static_cast<off_t>(from + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_with_errno(path_, "read");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

void AppendedFile::remove() noexcept {
    struct stat own {
    }, there{};
    if (fstat(descriptor_, &own) == 0 && stat(path_.c_str(), &there) == 0 &&
        own.st_ino == there.st_ino && own.st_dev == there.st_dev)
        unlink(path_.c_str());
}

}  // namespace nw
