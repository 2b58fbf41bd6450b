// The chunks of one LP's heap that are larger than 8 KiB, one a block: in a span while they fit,
// else in segments of their own. Their addresses stay the LP's after free(), for restoring and for
// the next request of the same size; beyond 1 MiB the pages of free ones go back to the kernel.
//
// Lives in platform memory of the group; most LPs never have one. Owner thread of the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "numa/heap/platform_heap.hpp"
#include "numa/heap/snapshot.hpp"
#include "numa/heap/state_spans.hpp"

namespace nw {

class LargeBlocks {
  public:
    static constexpr std::size_t alignment_max = span_bytes / 2;
    // No heap has more, whatever the number of groups and the memory mode.
    static constexpr std::size_t bytes_max = region_bytes_wanted;

    // All throw nothing; nullptr when the slot is full.
    static LargeBlocks* create(PlatformHeap& platform) noexcept;
    // The first free block of the size's class, else a new one. Requires: bytes > 0, alignment a
    // power of two ≤ alignment_max. Cost: O(log of the class's blocks + classes in use).
    void* allocate(LpHeap& owner, StateSpans& spans, PlatformHeap& platform, std::size_t bytes,
                   std::size_t alignment) noexcept;

    // All require: block.is_large(), and it is this LP's.
    void free(StateSpans& spans, Block& block) noexcept { set_free(spans, entries_[block.index]); }
    std::size_t bytes_of(const Block& block) const noexcept { return entries_[block.index].bytes; }
    std::size_t capacity_of(const Block& block) const noexcept {
        return entries_[block.index].capacity;
    }
    // Requires: 0 < bytes ≤ capacity_of(block), block in use.
    void resize(Block& block, std::size_t bytes) noexcept;

    // Calls visit(address, bytes) for every chunk in use.
    void for_each_chunk(const std::function<void(std::byte*, std::size_t)>& visit) const;

    std::size_t live_bytes() const noexcept { return live_bytes_; }
    std::uint32_t live_count() const noexcept { return live_count_; }

    // The part of a snapshot that is ours: see snapshot.hpp.
    std::size_t image_bytes() const noexcept;
    // What is as it was in `previous`, an older one of this heap, is shared with it; null: there is none.
    // Throws PlatformOutOfMemory.
    void write_images(Snapshot& snapshot, Snapshot* previous, PlatformHeap& platform) const;
    void restore_images(StateSpans& spans, const Snapshot& snapshot) noexcept;
    bool equals_images(const Snapshot& snapshot) const noexcept;
    static void drop_images(Snapshot& snapshot, PlatformHeap& platform) noexcept;
    // Calls visit(address, bytes, saved bytes) for every chunk of the images.
    void for_each_saved_chunk(
        const Snapshot& snapshot,
        const std::function<void(const std::byte*, std::size_t, const std::byte*)>& visit) const;

    void validate(const LpHeap& owner) const;

  private:
    struct Entry {
        Block* block;
        std::size_t capacity;
        std::size_t bytes;  // what was asked for; 0: free
        bool in_segment;
        bool has_pages;  // may have; in_segment and free: counted in free_resident_bytes_
        bool listed;     // in its class's list; true if it is free
        std::uint32_t size_class;

        std::span<std::byte> chunk() const noexcept { return {block->data(), bytes}; }
    };

    // The blocks of one capacity and one alignment. `free` lists the indices of those that are free, as a
    // heap with the lowest on top; one that restore_images() took into use stays until it is on top.
    struct SizeClass {
        std::size_t capacity;
        std::size_t alignment;  // of the data: the largest power of two
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
