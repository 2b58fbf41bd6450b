// SPDX-License-Identifier: Apache-2.0
#include "util/file/disk.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "util/check.hpp"

namespace nw {

std::size_t write_all(int descriptor, std::string_view bytes) noexcept {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = write(descriptor, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno != EINTR) break;
        if (count > 0) done += static_cast<std::size_t>(count);
    }
    return done;
}

bool sync_descriptor(int descriptor) noexcept {
    int status = 0;
    do {
        status = fsync(descriptor);
    } while (status != 0 && errno == EINTR);
    return status == 0 || errno == EINVAL || errno == EROFS;
}

void replace_file(const std::string& target, const std::string& by) {
    if (std::rename(by.c_str(), target.c_str()) != 0) fail_with_errno(target, "written");
}

void sync_folder(const std::string& path) {
    const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 && errno == EACCES) return;
    if (folder < 0) fail_with_errno(path, "written");
    const bool is_synced = sync_descriptor(folder);
    const int reason = errno;
    close(folder);
    errno = reason;
    if (!is_synced) fail_with_errno(path, "written");
}

void fail_with_errno(const std::string& path, std::string_view what) {
    throw MachineError(fmt::format("{} cannot be {}: {}", path, what, std::strerror(errno)));
}

}  // namespace nw
