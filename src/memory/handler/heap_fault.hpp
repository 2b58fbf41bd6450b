// SPDX-License-Identifier: Apache-2.0
// Errors that a handler makes with pointers and resources, and how the engine detects them.
//
// free() and operator delete must not throw. So an invalid call in a handler is refused: nothing is
// freed or damaged. The fault is recorded for the thread, and the handler continues. After each
// handler, the engine calls take_heap_fault(). It treats a fault as a ModelError of the event: the
// fault is reported only if the event is committed. Code that can throw calls throw_if_fault().
#pragma once

#include <cstddef>
#include <cstdint>

namespace nw {

enum class HeapFault : std::uint8_t {
    none,
    not_from_an_lp,  // not memory of an LP: older than the run, or a wild pointer
    other_lp,        // a used or free chunk of another LP
    not_a_chunk,     // in memory of this LP, but not the beginning of a chunk
    already_free,    // a free chunk of this LP
    of_setup,        // memory that setup() allocated (shared_arena.hpp)
    overflow,        // bytes behind a block were changed (heap_guards.hpp)
    underflow,       // bytes before a block were changed
    left_open,       // not a memory error: a file or a similar resource is still open
    left_locale,     // not a memory error: the thread's locale has changed
    never_started,   // not a memory error: a process was created and not started
    never_awaited,
};

// One line for the user, without the address. For `overflow`, the line describes the last overflow
// on this thread.
const char* describe(HeapFault fault) noexcept;

namespace detail {
// The results of this thread's handler: a fault in the low bits; excused_bit: the handler may free
// memory of libc; unsettled_bit: put_back() must be called (runtime_state.hpp). All results are in
// one byte, so that the check after every handler costs one load.
extern constinit thread_local std::uint8_t heap_remarks [[gnu::tls_model("initial-exec")]];
inline constexpr std::uint8_t excused_bit = 0x80;
inline constexpr std::uint8_t unsettled_bit = 0x40;

HeapFault settle() noexcept;
}  // namespace detail

// Returns the first fault on this thread since the last call; `none` if there was none. Must be
// called after every handler, also if it threw or crashed. Otherwise the next event would get the
// fault.
inline HeapFault take_heap_fault() noexcept {
    const std::uint8_t remarks = detail::heap_remarks;
    if (remarks == 0) [[likely]]
        return HeapFault::none;
    return detail::settle();
}
void post_heap_fault(HeapFault fault) noexcept;

// Returns `overflow`, and sets the text of describe() on this thread: the size of the block, and
// the offset of the first byte that was changed.
HeapFault note_overflow(std::size_t block_bytes, std::size_t offset) noexcept;

// Allows the handler to free memory of libc until the next take_heap_fault() on this thread. Called
// when the handler has initialized a static variable (see memory/interpose/runtime.cpp): the
// temporaries of the initializer are in memory of libc, and are destroyed afterwards.
void excuse_libc_frees() noexcept;
bool libc_frees_excused() noexcept;

// The next take_heap_fault() on this thread will call put_back().
void note_unsettled() noexcept;

// Throws ModelError.
[[noreturn]] void throw_heap_fault(HeapFault fault);
inline void throw_if_fault(HeapFault fault) {
    if (fault != HeapFault::none) [[unlikely]]
        throw_heap_fault(fault);
}

}  // namespace nw
