// SPDX-License-Identifier: Apache-2.0
#include "app/standard_streams.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace nw {

void secure_standard_streams() noexcept {
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
        if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
        // open() returns the lowest free number, which is `number`, because all lower numbers are
        // in use. Numbers 0 and 1 are opened read-only: if standard output was closed, writing
        // results to it must fail visibly.
        if (open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace nw
