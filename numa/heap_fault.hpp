// What a handler can do wrong with a pointer, and how the engine learns of it.
//
// free() and operator delete must not throw, so a bad one inside a handler is refused (nothing is
// freed, nothing is damaged), remembered for the thread, and the handler goes on. The engine asks
// take_heap_fault() after each handler and treats a fault as a ModelError of that event: reported
// only if the event is committed. Code that can throw calls throw_if_fault().
#pragma once

#include <cstdint>

namespace nw {

enum class HeapFault : std::uint8_t {
    none,
    not_from_an_lp,    // the address is not memory of any LP: from before the run, or invented
    other_lp,          // a live or dead chunk of another LP
    not_a_chunk,       // inside this LP's memory, but not where a chunk begins
    already_free,      // a chunk of this LP that is not allocated: freed twice
};

// One line for the user, without the address.
const char* describe(HeapFault fault) noexcept;

// The first fault on this thread since the last call; `none` if there was none.
HeapFault take_heap_fault() noexcept;
void post_heap_fault(HeapFault fault) noexcept;

// Throws ModelError.
[[noreturn]] void throw_heap_fault(HeapFault fault);
inline void throw_if_fault(HeapFault fault) {
    if (fault != HeapFault::none) [[unlikely]]
        throw_heap_fault(fault);
}

}  // namespace nw
