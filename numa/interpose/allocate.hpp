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

inline void* allocate_from(LpHeap& heap, std::size_t bytes) noexcept {
    return outside_of(heap, [&] {
        return heap_guards_on ? HeapGuards::allocate(heap, bytes, 0) : heap.allocate(bytes);
    });
}
inline void* allocate_aligned_from(LpHeap& heap, std::size_t alignment,
                                   std::size_t bytes) noexcept {
    return outside_of(heap, [&] {
        return heap_guards_on ? HeapGuards::allocate(heap, bytes, alignment)
                              : heap.allocate_aligned(alignment, bytes);
    });
}
inline void* allocate_zeroed_from(LpHeap& heap, std::size_t bytes) noexcept {
    return outside_of(heap, [&] {
        return heap_guards_on ? HeapGuards::allocate_zeroed(heap, bytes)
                              : heap.allocate_zeroed(bytes);
    });
}

// Whether what `caller`, a code address, asks for in platform mode is to come from the arena of
// setup(): not for libc and the loader, and not for function-local statics.
bool is_for_setup(const void* caller) noexcept;

}  // namespace nw::interpose
