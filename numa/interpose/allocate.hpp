// What malloc.cpp and new.cpp ask of an LP's heap, and in which mode: with no heap current, so that a
// handler that runs long is not interrupted in the middle of it (fault_guard.hpp), and so that what
// the heap needs itself comes from libc. And the memory of setup(), which is asked for in platform
// mode.
#pragma once

#include <cstddef>

#include "numa/handler/heap_scope.hpp"
#include "numa/heap/heap_guards.hpp"
#include "numa/heap/lp_heap.hpp"
#include "numa/region/shared_arena.hpp"

namespace nw::interpose {

// Calls `use` with no heap current. Requires: it throws nothing; `heap` is current.
template <class Use>
inline auto outside_of(LpHeap& heap, Use&& use) noexcept {
    set_current_heap(nullptr);
    const auto result = use();
    set_current_heap(&heap);
    return result;
}

// After a request that the heap has refused. A request that no heap can ever serve is refused as libc refuses it.
// What else is refused depends on the layout (groups, memory cap, what other LPs hold), and a handler that copes
// with it would do something else on another layout: the event has failed, whatever its handler would do.
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

// Whether what `caller`, a code address, asks for in platform mode is to come from the arena of
// setup(): not for libc and the loader, and not for function-local statics.
bool is_for_setup(const void* caller) noexcept;

}  // namespace nw::interpose
