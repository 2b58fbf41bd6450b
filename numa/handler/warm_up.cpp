#include "numa/handler/warm_up.hpp"

#include <stdio_ext.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <cwchar>
#include <exception>
#include <locale>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "numa/handler/eternal_locale.hpp"
#include "numa/handler/heap_scope.hpp"

namespace nw {
namespace {

// stdio gives a stream its buffer at the first write. A stream that has one, or that somebody set
// up, stays as it is.
void give_buffer(std::FILE* stream, char* buffer, std::size_t bytes) {
    if (__fbufsize(stream) != 0) return;
    const bool terminal = ::isatty(::fileno(stream)) != 0;
    std::setvbuf(stream, buffer, terminal ? _IOLBF : _IOFBF, bytes);
}

void warm_up_process() {
    static char out_buffer[BUFSIZ];
    give_buffer(stdout, out_buffer, sizeof out_buffer);
    // Reads the time-zone file.
    const std::time_t epoch = 0;
    std::tm broken_down{};
    ::localtime_r(&epoch, &broken_down);
    // Conversions between bytes and wide characters; ASCII needs none.
    static_cast<void>(std::btowc(0xe9));
    make_eternal(std::locale::classic());
    make_eternal(std::locale());
}

}  // namespace

void warm_up() {
    const PlatformScope platform;
    static std::once_flag once;
    std::call_once(once, warm_up_process);
    static thread_local bool is_warm = false;
    if (std::exchange(is_warm, true)) return;
    // A first throw makes the unwinder look up the program's tables.
    try {
        throw std::runtime_error("warm-up");
    } catch (const std::runtime_error&) {
        static_cast<void>(std::uncaught_exceptions());
    }
}

}  // namespace nw
