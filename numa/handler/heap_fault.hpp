// What a handler can do wrong with a pointer, and how the engine learns of it.
//
// free() and operator delete must not throw, so a bad one inside a handler is refused (nothing is
// freed, nothing is damaged), remembered for the thread, and the handler goes on. The engine asks
// take_heap_fault() after each handler and treats a fault as a ModelError of that event: reported
// only if the event is committed. Code that can throw calls throw_if_fault().
#pragma once

#include <cstddef>
#include <cstdint>

namespace nw {

enum class HeapFault : std::uint8_t {
    none,
    not_from_an_lp,  // the address is not memory of any LP: from before the run, or invented
    other_lp,        // a live or dead chunk of another LP
    not_a_chunk,     // inside this LP's memory, but not where a chunk begins
    already_free,    // a chunk of this LP that is not allocated: freed twice
    of_setup,        // memory that setup() made (shared_arena.hpp)
    overflow,        // something was written behind a block (heap_guards.hpp)
    underflow,       // or before it
    left_open,       // not memory at all: a file, or something like it, that is still open
    left_locale,     // nor this: the thread has another locale than before
    never_started,   // nor these: a process, or a request of one, that has no effect
    never_awaited,
};

// One line for the user, without the address. Of an overflow: the last one on this thread.
const char* describe(HeapFault fault) noexcept;

namespace detail {
// What this thread's handler has done that is remarkable: a fault, in the low bits, and whether
// libc frees are excused, and whether put_back() has something to do (runtime_state.hpp). One word, so that asking after every handler costs one load.
extern constinit thread_local std::uint8_t heap_remarks [[gnu::tls_model("initial-exec")]];
inline constexpr std::uint8_t excused_bit = 0x80;
inline constexpr std::uint8_t unsettled_bit = 0x40;

HeapFault settle() noexcept;
}  // namespace detail

// The first fault on this thread since the last call; `none` if there was none. To be called after
// every handler, one that threw or crashed included, lest the next event is blamed.
inline HeapFault take_heap_fault() noexcept {
    const std::uint8_t remarks = detail::heap_remarks;
    if (remarks == 0) [[likely]]
        return HeapFault::none;
    return detail::settle();
}
void post_heap_fault(HeapFault fault) noexcept;

// An overflow for which describe() has these words on this thread: the block was so long, and the byte
// at this offset is the first that was changed.
HeapFault note_overflow(std::size_t block_bytes, std::size_t offset) noexcept;

// Until the next take_heap_fault() on this thread, the handler may free memory from libc: it has
// initialised a static (see interpose/runtime.cpp), whose temporaries are destroyed just after.
void excuse_libc_frees() noexcept;
bool libc_frees_excused() noexcept;

// The next take_heap_fault() on this thread is to call put_back().
void note_unsettled() noexcept;

// Throws ModelError.
[[noreturn]] void throw_heap_fault(HeapFault fault);
inline void throw_if_fault(HeapFault fault) {
    if (fault != HeapFault::none) [[unlikely]]
        throw_heap_fault(fault);
}

}  // namespace nw
