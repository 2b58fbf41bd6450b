// Guards around every block that a handler allocates (--check-heap): a head before it, which knows its
// size, and at least 32 bytes behind it that nobody may change. Who writes there has failed, with a
// line that says how long the block was and which byte beyond was the first to be changed. The same on
// every engine: blocks are looked at by their addresses' order when a handler returns, and one when it
// is freed.
//
// What it does not see: reading beyond a block, and a write that steps over the guard.
//
// The LP's heap holds guarded blocks as it holds others, a bit larger. So all of a process are guarded,
// or none.
// Thread: the owner of the heap.
#pragma once

#include <cstddef>

#include "numa/handler/heap_fault.hpp"
#include "numa/heap/lp_heap.hpp"

namespace nw {

// Set before the first LP is built.
extern constinit bool heap_guards_on;
// What guarded blocks hold when they are new; below 0: whatever was there. For --check-model.
extern constinit int heap_fill;

class HeapGuards {
  public:
    // On or off for as long as it lives: a run.
    class Use {
      public:
        explicit Use(bool on) noexcept { heap_guards_on = on; }
        ~Use() { heap_guards_on = false; }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
    };

    // What is handed out must lie in the first 64 KiB of a block's segment.
    static constexpr std::size_t alignment_max = span_bytes / 4;

    // As those of LpHeap. alignment 0: the usual.
    static void* allocate(LpHeap& heap, std::size_t bytes, std::size_t alignment) noexcept;
    static void* allocate_zeroed(LpHeap& heap, std::size_t bytes) noexcept;
    static void* reallocate(LpHeap& heap, void* address, std::size_t bytes) noexcept;
    [[nodiscard]] static HeapFault free(LpHeap& heap, void* address) noexcept;
    static HeapFault check(const LpHeap& heap, const void* address) noexcept;
    // Requires: it is a live block's.
    static std::size_t usable_size(const void* address) noexcept;

    // Looks at all guards of the heap, and mends what is broken, lest the next event is blamed.
    // Returns overflow or underflow for the block with the lowest address, if there is one; describe()
    // then has the words on this thread. Cost: a look at every block.
    static HeapFault check_all(LpHeap& heap);
};

}  // namespace nw
