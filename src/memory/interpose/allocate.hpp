// SPDX-License-Identifier: Apache-2.0
// Requests of malloc.cpp and new.cpp to an LP's heap. During a request, no heap is current. So a
// handler that runs long is not interrupted inside a request (fault_guard.hpp), and the memory that
// the heap itself needs comes from libc. This file also decides which requests in platform mode get
// memory of setup().
#pragma once

#include <cstddef>

#include "memory/handler/heap_scope.hpp"
#include "memory/heap/heap_guards.hpp"
#include "memory/heap/lp_heap.hpp"
#include "memory/region/shared_arena.hpp"

namespace nw::interpose {

// Calls `use` with no heap current, and returns its result.
// Requires: `use` does not throw; `heap` is current.
template <class Use>
inline auto outside_of(LpHeap& heap, Use&& use) noexcept {
    set_current_heap(nullptr);
    const auto result = use();
    set_current_heap(&heap);
    return result;
}

// Called after the heap has refused a request. Returns if no heap could ever serve the request: the
// caller then refuses the request like libc. Otherwise the event fails, even if its handler would
// handle the refusal. The reason: such a refusal depends on the layout (groups, memory cap, memory
// of other LPs), and a handler that continues would behave differently with another layout.
[[gnu::cold, gnu::noinline]] void fail_unless_impossible(std::size_t bytes,
                                                         std::size_t alignment) noexcept;

inline void* checked(void* address, std::size_t bytes, std::size_t alignment) noexcept {
    if (address == nullptr) [[unlikely]]
        fail_unless_impossible(bytes, alignment);
    return address;
}

inline void* allocate_from(LpHeap& heap, std::size_t bytes) noexcept {
    void* const address = outside_of(heap, [&] {
        return heap_guards_on ? HeapGuards::allocate(heap, bytes, 0) : heap.allocate(bytes);
    });
    return checked(address, bytes, 0);
}
inline void* allocate_aligned_from(LpHeap& heap, std::size_t alignment,
                                   std::size_t bytes) noexcept {
    void* const address = outside_of(heap, [&] {
        return heap_guards_on ? HeapGuards::allocate(heap, bytes, alignment)
                              : heap.allocate_aligned(alignment, bytes);
    });
    return checked(address, bytes, alignment);
}
inline void* allocate_zeroed_from(LpHeap& heap, std::size_t bytes) noexcept {
    void* const address = outside_of(heap, [&] {
        return heap_guards_on ? HeapGuards::allocate_zeroed(heap, bytes)
                              : heap.allocate_zeroed(bytes);
    });
    return checked(address, bytes, 0);
}

// True if a request in platform mode gets memory from the arena of setup(). `caller` is a code
// address. False for requests of libc and the loader, and for function-local statics.
bool is_for_setup(const void* caller) noexcept;

}  // namespace nw::interpose
