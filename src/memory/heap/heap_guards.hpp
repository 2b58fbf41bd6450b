// SPDX-License-Identifier: Apache-2.0
// Guards around every block that a handler allocates (--check-heap). The header before the block
// contains the size of the block. At least 32 bytes behind the block must not change. An event
// whose handler changes these bytes has failed. The message contains the size of the block and the
// offset of the first changed byte. All blocks are checked when a handler has returned, and a block
// is also checked when it is freed. If several blocks are damaged, the block with the lowest
// address is reported, so that the message is the same on every engine.
//
// Reads beyond a block are not detected, and neither are writes that skip the guard.
//
// The LP's heap treats a guarded block like any other chunk; it is only larger. HeapGuards cannot
// distinguish guarded blocks from other chunks. Therefore either all blocks of a process are
// guarded, or no block is guarded.
// Thread: the owner of the heap.
#pragma once

#include <cstddef>

#include "memory/handler/heap_fault.hpp"
#include "memory/heap/lp_heap.hpp"

namespace nw {

// Set before the first LP is constructed.
extern constinit bool heap_guards_on;
// The byte with which new guarded blocks are filled; below 0: they are not filled. For
// --check-model.
extern constinit int heap_fill;

class HeapGuards {
  public:
    // Sets heap_guards_on for the lifetime of the object, which is one run.
    class Use {
      public:
        explicit Use(bool on) noexcept { heap_guards_on = on; }
        ~Use() { heap_guards_on = false; }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
    };

    // The data must begin in the first 64 KiB of a block's segment.
    static constexpr std::size_t alignment_max = span_bytes / 4;

    // Contracts as in LpHeap. An alignment of 0 means the default of 16 bytes.
    static void* allocate(LpHeap& heap, std::size_t bytes, std::size_t alignment) noexcept;
    static void* allocate_zeroed(LpHeap& heap, std::size_t bytes) noexcept;
    static void* reallocate(LpHeap& heap, void* address, std::size_t bytes) noexcept;
    [[nodiscard]] static HeapFault free(LpHeap& heap, void* address) noexcept;
    static HeapFault check(const LpHeap& heap, const void* address) noexcept;
    // Requires: `address` is the beginning of a live block.
    static std::size_t usable_size(const void* address) noexcept;

    // Checks the guards of all blocks. Repairs overwritten guards, so that the next event does not
    // fail because of them. For the same reason, repairs overwritten heads of the blocks of LpHeap.
    // Such a block contains several guarded blocks. Returns `none` if no block is damaged.
    // Otherwise returns `overflow` or `underflow` for the damaged block with the lowest address,
    // and describe() returns the message on this thread.
    // Cost: one check of every block.
    static HeapFault check_all(LpHeap& heap);
};

}  // namespace nw
