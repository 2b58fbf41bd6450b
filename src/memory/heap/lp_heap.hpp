// SPDX-License-Identifier: Apache-2.0
// The recoverable heap of one LP. It has the semantics of malloc, and its snapshots copy only the
// chunks in use. The method, size classes with bitmaps, is from DyMeLoR (Toccaceli, Quaglia:
// "DyMeLoR: Dynamic Memory Logger and Restorer Library for Optimistic Simulation Objects with
// Generic Memory Layout", PADS 2008).
//
// Small chunks (≤ 8 KiB) are in blocks of up to 64 chunks, with one 64-bit mask in the block's
// head. The blocks of a size class form a bin. Block j of a bin has about 128 · 2^j bytes; the
// first block may be smaller. Each larger chunk has a separate block. In models with very many LPs,
// most LPs have one block of small chunks. Such a heap consists of this block and 16 bytes; the
// tables of bins and of large chunks are made when the heap needs more blocks.
//
// The policy is canonical: an allocation finds the lowest block of the size class that has a free
// chunk, and takes the lowest free chunk of this block. So the result of allocate() follows from
// the masks alone. Blocks never leave their LP. Therefore, after restore(), the same calls return
// the same addresses as the first time, and a snapshot contains no hint or list. Within one size
// class a later block has a higher address, unless the group's slot runs full. Between size
// classes, the order of addresses depends on which class grew first, even if the event that made
// the class grow was rolled back. So a model must not order objects of different sizes by address.
// With --memory libc, it must not order any objects by address.
//
// Memory that an LP has freed stays with the LP. Free large blocks in separate segments are an
// exception: an LP keeps at most 1 MiB of the pages of these blocks, and the other pages return to
// the kernel.
//
// Thread: the owner of the LP's group. The functions may be called if this heap is the current
// heap, or if there is no current heap.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory/handler/heap_fault.hpp"
#include "memory/heap/lp_heap_class.hpp"
#include "memory/heap/platform_heap.hpp"
#include "memory/heap/snapshot.hpp"
#include "memory/heap/state_spans.hpp"
#include "memory/region/size_classes.hpp"

namespace nw {

// The blocks of one size class. Blocks [used, count) are empty. `current` is the lowest block with
// a free chunk. If `current` is null, no block below `search_from` has a free chunk, and the other
// blocks have not been searched. current != null ⇒ current->index < used.
struct LpHeap::Bin {
    union {
        Block* only;  // capacity == 1
        Block** blocks;  // `capacity` pointers, then ⌈capacity/64⌉ words: bit j set iff block j has
                         // a free chunk
    };
    Block* current;
    std::uint32_t count;
    std::uint32_t used;
    std::uint32_t capacity;
    std::uint32_t search_from;

    Block* block(std::uint32_t j) const noexcept { return capacity == 1 ? only : blocks[j]; }
    std::uint64_t* vacancies() const noexcept {
        return reinterpret_cast<std::uint64_t*>(blocks + capacity);
    }
};

// In platform memory. The bins follow the object, in the order of their first use.
struct LpHeap::Tables {
    LargeBlocks* large;        // in platform memory; null until the first request for a large chunk
    std::uint32_t used_units;  // in small chunks; a unit has 16 bytes
    std::uint8_t bin_count;
    std::uint8_t bin_capacity;
    std::array<std::uint8_t, small_class_count> bin_of_class;  // index of the bin + 1; 0: none

    Bin* bins() noexcept { return reinterpret_cast<Bin*>(this + 1); }
    static constexpr std::size_t bytes(std::size_t bins) noexcept {
        return sizeof(Tables) + bins * sizeof(Bin);
    }
};

inline LargeBlocks* LpHeap::large() const noexcept {
    const Tables* const all = tables();
    return all != nullptr ? all->large : nullptr;
}

inline bool LpHeap::owns(const void* address) const noexcept {
    return check(address) == HeapFault::none;
}

inline void* LpHeap::take_chunk(Block& block, std::size_t c) noexcept {
    const std::uint64_t mask = block.free_mask;
    const unsigned i = static_cast<unsigned>(std::countr_zero(mask));
    const std::size_t bytes = small_classes[c].bytes;
    block.free_mask = mask & (mask - 1);
    std::byte* const chunk = block.data() + i * bytes;
    if (fills_with_zeros()) [[unlikely]]
        __builtin_memset(chunk, 0, bytes);
    return chunk;
}

// Requires: there are no tables, and the block is the heap's only block.
inline void* LpHeap::take_from(Block& block, std::size_t c) noexcept {
    blocks_ += chunk_in_use;
    return take_chunk(block, c);
}

// Requires: bin.current != null.
inline void* LpHeap::take_from(Tables& all, Bin& bin, std::size_t c) noexcept {
    Block& block = *bin.current;
    all.used_units += small_classes[c].bytes / 16;
    void* const chunk = take_chunk(block, c);
    if (block.free_mask == 0) [[unlikely]]
        block_became_full(bin, block);
    return chunk;
}

inline void* LpHeap::allocate(std::size_t bytes) noexcept {
    if (bytes <= small_chunk_max) [[likely]] {
        const std::size_t c = small_class_of(bytes);
        if (Tables* const all = tables()) {
            const std::size_t b = all->bin_of_class[c];
            if (b != 0) [[likely]] {
                Bin& bin = all->bins()[b - 1];
                if (bin.current != nullptr && bin.current->owner == this) [[likely]]
                    return take_from(*all, bin, c);
            }
        } else if (Block* const block = only()) {
            if (block->small_class == c && block->free_mask != 0) return take_from(*block, c);
        }
        return allocate_elsewhere(c);
    }
    return allocate_large(bytes, chunk_alignment);
}

}  // namespace nw
