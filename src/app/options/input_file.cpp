// SPDX-License-Identifier: Apache-2.0
#include "app/options/input_file.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace nw {

namespace {

constexpr int patience_ms = 5000;

[[noreturn]] void fail(int number) { throw std::system_error(number, std::generic_category()); }

class Descriptor {
  public:
    // O_NONBLOCK: without it, open() blocks on a pipe that has no writer.
    explicit Descriptor(const std::string& path)
        : number_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
        if (number_ < 0) fail(errno);
    }
    ~Descriptor() { close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    // Waits until the file can be read. Regular files are always ready. A pipe is not ready if it
    // has never had a writer; it is ready if its writer has closed it. Throws on a timeout.
    void wait() const {
        pollfd one{number_, POLLIN, 0};
        const int ready = poll(&one, 1, patience_ms);
        if (ready == 0) fail(ETIMEDOUT);
        if (ready < 0 && errno != EINTR) fail(errno);
    }
    // Returns the number of bytes read, 0 at the end of the file, or -1: try again.
    ssize_t read(std::array<char, 65536>& chunk) const {
        const ssize_t got = ::read(number_, chunk.data(), chunk.size());
        if (got < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
        return got;
    }

  private:
    const int number_;
};

}  // namespace

std::string read_input_file(const std::string& path, std::size_t bytes_max) {
    if (path.find('\0') != std::string::npos) fail(EINVAL);
    const Descriptor file(path);
    std::string text;
    std::array<char, 65536> chunk;
    for (;;) {
        file.wait();
        const ssize_t got = file.read(chunk);
        if (got == 0) return text;
        if (got < 0) continue;
        text.append(chunk.data(), static_cast<std::size_t>(got));
        if (text.size() > bytes_max) fail(EFBIG);
    }
}

}  // namespace nw
