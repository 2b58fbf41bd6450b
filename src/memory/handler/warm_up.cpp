// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/warm_up.hpp"

#include <execinfo.h>

#include <ctime>
#include <cwchar>
#include <exception>
#include <locale>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "memory/handler/eternal_locale.hpp"
#include "memory/handler/heap_scope.hpp"

extern "C" {

// glibc exports these functions; no header declares them.
void _IO_doallocbuf(FILE* stream);
void _IO_wdoallocbuf(FILE* stream);
void _IO_wsetb(FILE* stream, wchar_t* begin, wchar_t* end, int is_allocated);
void _IO_list_lock();
void _IO_list_unlock();
FILE* _IO_iter_begin();
FILE* _IO_iter_end();
FILE* _IO_iter_next(FILE* iterator);
FILE* _IO_iter_file(FILE* iterator);

}  // extern "C"

namespace nw {
namespace {

void give_buffers_to_all_streams() noexcept {
    _IO_list_lock();
    for (FILE* i = _IO_iter_begin(); i != _IO_iter_end(); i = _IO_iter_next(i))
        give_buffers(_IO_iter_file(i));
    _IO_list_unlock();
}

void warm_up_process() {
    give_buffers_to_all_streams();
    // For this function libc loads libgcc_s.
    void* frame = nullptr;
    static_cast<void>(::backtrace(&frame, 1));
    // Reads the time-zone file.
    const std::time_t epoch = 0;
    std::tm broken_down{};
    ::localtime_r(&epoch, &broken_down);
    // Loads conversions between bytes and wide characters; ASCII needs none.
    static_cast<void>(std::btowc(0xe9));
    make_eternal(std::locale::classic());
    make_eternal(std::locale());
}

}  // namespace

void give_buffers(std::FILE* stream) noexcept {
    _IO_doallocbuf(stream);
    if (stream->_mode >= 0) _IO_wdoallocbuf(stream);
}

void take_wide_buffer(std::FILE* stream) noexcept {
    if (stream != nullptr && stream->_mode == 0) _IO_wsetb(stream, nullptr, nullptr, 0);
}

void warm_up() {
    const PlatformScope platform;
    static std::once_flag once;
    std::call_once(once, warm_up_process);
    static thread_local bool is_warm = false;
    if (std::exchange(is_warm, true)) return;
    // At the first exception the unwinder finds and caches the tables of the program.
    try {
        throw std::runtime_error("warm-up");
    } catch (const std::runtime_error&) {
        static_cast<void>(std::uncaught_exceptions());
    }
}

}  // namespace nw
