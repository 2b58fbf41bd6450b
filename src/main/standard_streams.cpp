#include "main/standard_streams.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace nw {

void secure_standard_streams() noexcept {
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
        if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free number is this one, since those below are taken. Not for writing, but for
        // standard error: where results should have gone, their loss must be seen.
        if (open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace nw
