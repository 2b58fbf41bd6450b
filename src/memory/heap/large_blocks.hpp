// SPDX-License-Identifier: Apache-2.0
// The chunks of one LP's heap that are larger than 8 KiB, one per block. A block lies in a span if
// it fits there, else in a separate segment. After free() a block still belongs to the LP, so that
// a snapshot can be restored and the next request of the same size can use the block. Free blocks
// in segments keep at most 1 MiB of pages per LP; the pages of further free blocks return to the
// kernel.
//
// The object lies in platform memory of the group; most LPs have no such object.
// Thread: the owner of the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "memory/heap/platform_heap.hpp"
#include "memory/heap/snapshot.hpp"
#include "memory/heap/state_spans.hpp"

namespace nw {

class LargeBlocks {
  public:
    static constexpr std::size_t alignment_max = span_bytes / 2;
    // Upper limit of a request, independent of the number of groups and of the memory mode.
    static constexpr std::size_t bytes_max = region_bytes_wanted;

    // create() and allocate() do not throw. They return nullptr when the slot is full.
    static LargeBlocks* create(PlatformHeap& platform) noexcept;
    // Uses the lowest free block of the size's class, or adds a block.
    // Requires: bytes > 0, alignment a power of two ≤ alignment_max.
    // Cost: O(log of the class's blocks + classes in use).
    void* allocate(LpHeap& owner, StateSpans& spans, PlatformHeap& platform, std::size_t bytes,
                   std::size_t alignment) noexcept;

    // free(), bytes_of(), capacity_of() and resize() require: block.is_large(), and the block
    // belongs to this LP.
    void free(StateSpans& spans, Block& block) noexcept { set_free(spans, entries_[block.index]); }
    std::size_t bytes_of(const Block& block) const noexcept { return entries_[block.index].bytes; }
    std::size_t capacity_of(const Block& block) const noexcept {
        return entries_[block.index].capacity;
    }
    // Requires: 0 < bytes ≤ capacity_of(block), and the block is in use.
    void resize(Block& block, std::size_t bytes) noexcept;

    // Calls visit(address, bytes) for every chunk in use.
    void for_each_chunk(const std::function<void(std::byte*, std::size_t)>& visit) const;

    std::size_t live_bytes() const noexcept { return live_bytes_; }
    std::uint32_t live_count() const noexcept { return live_count_; }

    // The part of a snapshot that describes large chunks: see snapshot.hpp.
    std::size_t image_bytes() const noexcept;
    // Pieces that have not changed since `previous` are shared with it. `previous` is an older
    // snapshot of this heap, or null. Throws PlatformOutOfMemory.
    void write_images(Snapshot& snapshot, Snapshot* previous, PlatformHeap& platform) const;
    void restore_images(StateSpans& spans, const Snapshot& snapshot) noexcept;
    bool equals_images(const Snapshot& snapshot) const noexcept;
    static void drop_images(Snapshot& snapshot, PlatformHeap& platform) noexcept;
    // Calls visit(address, bytes, saved bytes) for every large chunk in the snapshot.
    void for_each_saved_chunk(
        const Snapshot& snapshot,
        const std::function<void(const std::byte*, std::size_t, const std::byte*)>& visit) const;

    void validate(const LpHeap& owner) const;

  private:
    struct Entry {
        Block* block;
        std::size_t capacity;
        std::size_t bytes;  // requested size; 0: free
        bool in_segment;
        bool has_pages;  // false: the pages were discarded. free_resident_bytes_ counts the free
                         // blocks in_segment that have pages
        bool listed;     // in the list of its class; always true for a free block
        std::uint32_t size_class;

        std::span<std::byte> chunk() const noexcept { return {block->data(), bytes}; }
    };

    // The blocks of one capacity and one alignment. `free` contains the indices of the free blocks,
    // as a binary heap with the lowest index on top. A block that restore_images() has changed from
    // free to used stays in the list until it is on top.
    struct SizeClass {
        std::size_t capacity;
        std::size_t alignment;  // of the data: the largest guaranteed power of two
        std::uint32_t* free;    // platform memory, room for `room` ≥ `blocks` indices
        std::uint32_t free_count;
        std::uint32_t blocks;
        std::uint32_t room;
    };

    std::uint32_t take_lowest(std::size_t capacity, std::size_t alignment) noexcept;
    bool drop_used(SizeClass& size) noexcept;
    void unlist_lowest(SizeClass& size) noexcept;
    void set_free(StateSpans& spans, Entry& entry) noexcept;
    void set_used(Entry& entry, std::size_t bytes) noexcept;
    std::uint32_t add(LpHeap& owner, StateSpans& spans, PlatformHeap& platform,
                      std::size_t capacity, std::size_t alignment) noexcept;
    std::uint32_t class_for(PlatformHeap& platform, std::size_t capacity, std::size_t alignment);
    void validate_list(std::uint32_t c) const;

    Entry* entries_ = nullptr;
    SizeClass* classes_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t class_count_ = 0;
    std::uint32_t class_capacity_ = 0;
    std::uint32_t live_count_ = 0;
    std::size_t live_bytes_ = 0;
    std::size_t free_resident_bytes_ = 0;
};

}  // namespace nw
