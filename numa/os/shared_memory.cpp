// SPDX-License-Identifier: Apache-2.0
#include "numa/os/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

namespace nw {

SharedMemory::~SharedMemory() {
    if (begin_ != nullptr) ::munmap(begin_, bytes_);
    if (file_ >= 0) ::close(file_);
}

Status SharedMemory::make(std::size_t bytes) noexcept {
    file_ = ::memfd_create("numawarp", MFD_CLOEXEC);
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(bytes)) != 0) return errno;
    return map(bytes);
}

Status SharedMemory::open(const std::string& address, std::size_t bytes) noexcept {
    file_ = ::open(address.c_str(), O_RDWR | O_CLOEXEC);
    if (file_ < 0) return errno;
    // In another container, a different process may have this number.
    struct stat found {};
    if (::fstat(file_, &found) != 0) return errno;
    if (found.st_size != static_cast<off_t>(bytes)) return ENOENT;
    return map(bytes);
}

Status SharedMemory::map(std::size_t bytes) noexcept {
    void* const got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (got == MAP_FAILED) return errno;
    begin_ = got;
    bytes_ = bytes;
    return 0;
}

std::string SharedMemory::address() const {
    return fmt::format("/proc/{}/fd/{}", ::getpid(), file_);
}

}  // namespace nw
