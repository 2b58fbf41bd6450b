// SPDX-License-Identifier: Apache-2.0
#include "app/fixed_addresses.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/interpose/signal_handlers.hpp"

namespace nw {
namespace {

// Environment variable that is set while the program is executed again. A process that finds it
// does not execute the program a third time.
constexpr const char* mark = "NUMAWARP_FIXED_ADDRESSES";
constexpr unsigned long only_ask = 0xffffffff;

enum class Attempt : unsigned char { none, refused, failed, in_vain };

// The attempt of this process and its errno; written before main().
constinit Attempt attempt = Attempt::none;
constinit int attempt_errno = 0;

bool has_fixed_addresses() noexcept {
    const int flags = personality(only_ask);
    return flags != -1 && (flags & ADDR_NO_RANDOMIZE) != 0;
}

// Searches a configuration file as plain text for the two options. A wrong match only has the
// effect that the program is executed again. The file is read and parsed properly when the run
// begins. Therefore only regular files are read here: a pipe can be read only once, and a device
// may have no end.
bool file_may_ask(const char* path) noexcept {
    struct stat status {};
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    std::FILE* const file = std::fopen(path, "re");
    if (file == nullptr) return false;
    std::array<char, 4096> line{};
    bool found = false;
    while (!found && std::fgets(line.data(), line.size(), file) != nullptr)
        found = std::strstr(line.data(), "checkpoint") != nullptr ||
                std::strstr(line.data(), "restart") != nullptr;
    std::fclose(file);
    return found;
}

bool may_ask_for_saved_run(int count, char** words) noexcept {
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        const std::size_t equals = word.find('=');
        const std::string_view option = word.substr(0, equals);
        if (option == "--checkpoint" || option == "--restart") return true;
        if (option != "--config") continue;
        const char* path = equals != word.npos ? words[i] + equals + 1 : words[i + 1];
        if (path != nullptr && file_may_ask(path)) return true;
    }
    return false;
}

// Executes the program again. Returns only if this fails.
Attempt begin_once_more(char** words) noexcept {
    // Execute the file itself and not the link /proc/self/exe: tools show the name that was
    // executed.
    std::array<char, PATH_MAX> program{};
    if (readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) return Attempt::failed;
    const int flags = personality(only_ask);
    if (flags == -1 || personality(static_cast<unsigned long>(flags) | ADDR_NO_RANDOMIZE) == -1)
        return Attempt::refused;
    if (setenv(mark, "1", 1) == 0) execv(program.data(), words);
    const int failure = errno;
    unsetenv(mark);
    personality(static_cast<unsigned long>(flags));
    errno = failure;
    return Attempt::failed;
}

// The C library calls this function with main()'s arguments, before the constructors of the model's
// static objects.
[[gnu::constructor(101)]] void fix_addresses(int count, char** words, char**) {
    ignore_signals_again();
    const bool once_more = std::getenv(mark) != nullptr;
    if (once_more) unsetenv(mark);
    if (!may_ask_for_saved_run(count, words) || has_fixed_addresses()) return;
    attempt = once_more ? Attempt::in_vain : begin_once_more(words);
    attempt_errno = errno;
}

}  // namespace

std::string why_addresses_differ() {
    if (has_fixed_addresses()) return {};
    switch (attempt) {
        case Attempt::refused:
            return std::string("personality(2): ") + std::strerror(attempt_errno);
        case Attempt::failed:
            return std::string("starting the program again: ") + std::strerror(attempt_errno);
        case Attempt::in_vain:
            return "personality(2) has no effect";
        case Attempt::none:
            break;
    }
    return "the command line of the program does not contain --checkpoint or --restart";
}

}  // namespace nw
