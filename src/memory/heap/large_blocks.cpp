// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/large_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "memory/region/size_classes.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// Maximum size of all free resident blocks of an LP, in bytes. Up to this limit, a handler that
// needs a big scratch buffer makes no system calls. Beyond it, each use of a block takes the pages
// of the block from the kernel and returns them. This took 0.7 ms per MiB, and filling resident
// pages took 0.02 ms per MiB (docs/results/constants-2026-11-23.csv). A higher limit would take too
// much memory: with this limit, 10,000 LPs may hold 10 GB.
constexpr std::size_t free_resident_max = std::size_t{1} << 20;

constexpr std::uint32_t no_block = UINT32_MAX;

// Doubles the capacity of an array in platform memory. Throws std::bad_alloc.
template <class T>
void grow(PlatformHeap& platform, T*& array, std::uint32_t& capacity) {
    const std::uint32_t wanted = std::max(4U, capacity * 2);
    auto* const grown = static_cast<T*>(platform.allocate(wanted * sizeof(T)));
    if (capacity != 0) {
        std::memcpy(grown, array, capacity * sizeof(T));
        platform.free(array, capacity * sizeof(T));
    }
    array = grown;
    capacity = wanted;
}

}  // namespace

LargeBlocks* LargeBlocks::create(PlatformHeap& platform) noexcept {
    try {
        return new (platform.allocate(sizeof(LargeBlocks))) LargeBlocks;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void* LargeBlocks::allocate(LpHeap& owner, StateSpans& spans, PlatformHeap& platform,
                            std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes > bytes_max || alignment > alignment_max) return nullptr;
    const std::size_t capacity = quarter_step_bytes(std::max(bytes, small_chunk_max + 1));
    std::uint32_t i = take_lowest(capacity, alignment);
    if (i == no_block) i = add(owner, spans, platform, capacity, alignment);
    if (i == no_block) return nullptr;
    set_used(entries_[i], bytes);
    return entries_[i].block->data();
}

// Finds the lowest free block that has this capacity and at least this alignment, and removes the
// block from its list. Returns the index of the block, or no_block.
std::uint32_t LargeBlocks::take_lowest(std::size_t capacity, std::size_t alignment) noexcept {
    SizeClass* lowest = nullptr;
    for (std::uint32_t c = 0; c < class_count_; ++c) {
        SizeClass& size = classes_[c];
        if (size.capacity != capacity || size.alignment < alignment || !drop_used(size)) continue;
        if (lowest == nullptr || size.free[0] < lowest->free[0]) lowest = &size;
    }
    if (lowest == nullptr) return no_block;
    const std::uint32_t i = lowest->free[0];
    unlist_lowest(*lowest);
    return i;
}

// Ensures: the class's list is empty, or the block at its top is free. Returns false if the list is
// empty.
bool LargeBlocks::drop_used(SizeClass& size) noexcept {
    while (size.free_count != 0 && entries_[size.free[0]].bytes != 0) unlist_lowest(size);
    return size.free_count != 0;
}

void LargeBlocks::unlist_lowest(SizeClass& size) noexcept {
    entries_[size.free[0]].listed = false;
    std::pop_heap(size.free, size.free + size.free_count, std::greater<>());
    --size.free_count;
}

// Returns the index of a new block, which is free and not listed.
std::uint32_t LargeBlocks::add(LpHeap& owner, StateSpans& spans, PlatformHeap& platform,
                               std::size_t capacity, std::size_t alignment) noexcept {
    // Blocks begin at multiples of 64. A larger alignment needs a separate segment. The data may
    // begin anywhere in the first 64 KiB of this segment.
    constexpr std::size_t least_offset = 64;
    const bool in_segment =
        least_offset + capacity > StateSpans::block_bytes_max || alignment > least_offset;
    const std::size_t data_offset =
        alignment <= least_offset ? least_offset : alignment - StateSpans::segment_block_offset;
    const std::size_t data_alignment =
        in_segment ? StateSpans::segment_block_offset + data_offset : least_offset;
    std::uint32_t size_class = 0;
    try {
        size_class = class_for(platform, capacity, data_alignment);
        if (count_ == capacity_) grow(platform, entries_, capacity_);
    } catch (const std::bad_alloc&) {
        return no_block;
    }
    Block* const block = in_segment ? spans.allocate_segment_block(data_offset, capacity)
                                    : spans.allocate_block(data_offset + capacity);
    if (block == nullptr) return no_block;
    *block = {&owner, 0, count_, Block::large_class, 1, static_cast<std::uint16_t>(data_offset)};
    ++classes_[size_class].blocks;
    entries_[count_] = {block, capacity, 0, in_segment, false, false, size_class};
    return count_++;
}

// Returns the index of the class, and makes room for one more block in its list. Throws
// std::bad_alloc.
std::uint32_t LargeBlocks::class_for(PlatformHeap& platform, std::size_t capacity,
                                     std::size_t alignment) {
    std::uint32_t c = 0;
    while (c < class_count_ &&
           (classes_[c].capacity != capacity || classes_[c].alignment != alignment))
        ++c;
    if (c == class_count_) {
        if (c == class_capacity_) grow(platform, classes_, class_capacity_);
        classes_[class_count_++] = {capacity, alignment, nullptr, 0, 0, 0};
    }
    SizeClass& size = classes_[c];
    if (size.blocks == size.room) grow(platform, size.free, size.room);
    return c;
}

void LargeBlocks::set_used(Entry& entry, std::size_t bytes) noexcept {
    if (entry.bytes == 0) {
        if (entry.in_segment && entry.has_pages) free_resident_bytes_ -= entry.capacity;
        ++live_count_;
    }
    live_bytes_ += bytes - entry.bytes;
    entry.bytes = bytes;
    entry.has_pages = true;
}

void LargeBlocks::set_free(StateSpans& spans, Entry& entry) noexcept {
    live_bytes_ -= entry.bytes;
    --live_count_;
    entry.bytes = 0;
    if (!entry.listed) {
        SizeClass& size = classes_[entry.size_class];
        size.free[size.free_count++] = entry.block->index;
        std::push_heap(size.free, size.free + size.free_count, std::greater<>());
        entry.listed = true;
    }
    if (!entry.in_segment) return;
    if (free_resident_bytes_ + entry.capacity <= free_resident_max) {
        free_resident_bytes_ += entry.capacity;
    } else {
        spans.discard(entry.block->data(), entry.capacity);
        entry.has_pages = false;
    }
}

void LargeBlocks::resize(Block& block, std::size_t bytes) noexcept {
    set_used(entries_[block.index], bytes);
}

void LargeBlocks::for_each_chunk(const std::function<void(std::byte*, std::size_t)>& visit) const {
    for (std::uint32_t i = 0; i < count_; ++i)
        if (entries_[i].bytes != 0) visit(entries_[i].block->data(), entries_[i].bytes);
}

std::size_t LargeBlocks::image_bytes() const noexcept {
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < count_; ++i)
        if (entries_[i].bytes != 0) bytes += Snapshot::LargeImage::image_bytes(entries_[i].bytes);
    return bytes;
}

void LargeBlocks::write_images(Snapshot& snapshot, Snapshot* previous,
                               PlatformHeap& platform) const {
    Snapshot::LargeImage* image = snapshot.large();
    Snapshot::LargeImage* known = previous != nullptr ? previous->large() : nullptr;
    std::uint32_t known_left = previous != nullptr ? previous->large_count : 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Entry& entry = entries_[i];
        if (entry.bytes == 0) continue;
        for (; known_left != 0 && known->index < i; --known_left) known = known->next();
        const bool is_known = known_left != 0 && known->index == i && known->bytes == entry.bytes;
        *image = {i, entry.bytes};
        for (std::size_t n = 0; n < piece_count(entry.bytes); ++n)
            image->pieces()[n] = hold_piece(piece_of<const std::byte>(entry.chunk(), n),
                                            is_known ? known->pieces()[n] : nullptr, platform);
        image = image->next();
    }
}

void LargeBlocks::restore_images(StateSpans& spans, const Snapshot& snapshot) noexcept {
    const Snapshot::LargeImage* image = snapshot.large();
    std::uint32_t left = snapshot.large_count;
    for (std::uint32_t i = 0; i < count_; ++i) {
        Entry& entry = entries_[i];
        if (left != 0 && image->index == i) {
            set_used(entry, image->bytes);
            for (std::size_t n = 0; n < piece_count(entry.bytes); ++n)
                restore_piece(piece_of(entry.chunk(), n), image->pieces()[n]);
            image = image->next();
            --left;
        } else if (entry.bytes != 0) {
            set_free(spans, entry);
        }
    }
}

bool LargeBlocks::equals_images(const Snapshot& snapshot) const noexcept {
    if (snapshot.large_count != live_count_) return false;
    const Snapshot::LargeImage* image = snapshot.large();
    for (std::uint32_t left = snapshot.large_count; left != 0; --left) {
        const Entry& entry = entries_[image->index];
        if (entry.bytes != image->bytes) return false;
        for (std::size_t n = 0; n < piece_count(entry.bytes); ++n)
            if (!equals_piece(piece_of<const std::byte>(entry.chunk(), n), image->pieces()[n]))
                return false;
        image = image->next();
    }
    return true;
}

void LargeBlocks::drop_images(Snapshot& snapshot, PlatformHeap& platform) noexcept {
    Snapshot::LargeImage* image = snapshot.large();
    for (std::uint32_t left = snapshot.large_count; left != 0; --left) {
        std::size_t bytes = image->bytes;
        for (std::size_t n = 0; bytes != 0; ++n) {
            const std::size_t piece_bytes = std::min(bytes, piece_bytes_max);
            release_piece(image->pieces()[n], piece_bytes, platform);
            bytes -= piece_bytes;
        }
        image = image->next();
    }
}

void LargeBlocks::for_each_saved_chunk(
    const Snapshot& snapshot,
    const std::function<void(const std::byte*, std::size_t, const std::byte*)>& visit) const {
    const Snapshot::LargeImage* image = snapshot.large();
    for (std::uint32_t left = snapshot.large_count; left != 0; --left) {
        std::vector<std::byte> saved(image->bytes);
        for (std::size_t n = 0; n < piece_count(image->bytes); ++n)
            restore_piece(piece_of<std::byte>(saved, n), image->pieces()[n]);
        visit(entries_[image->index].block->data(), saved.size(), saved.data());
        image = image->next();
    }
}

void LargeBlocks::validate(const LpHeap& owner) const {
    NW_CHECK(count_ <= capacity_);
    std::size_t live_bytes = 0;
    std::size_t free_resident = 0;
    std::uint32_t live_count = 0;
    std::uint32_t listed = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const Entry& entry = entries_[i];
        NW_CHECK(entry.block->owner == &owner);
        NW_CHECK(entry.block->index == i);
        NW_CHECK(entry.block->is_large());
        NW_CHECK(StateSpans::find(entry.block->data()) == entry.block);
        NW_CHECK(entry.bytes <= entry.capacity);
        NW_CHECK(entry.bytes != 0 || entry.listed);
        NW_CHECK(entry.capacity == classes_[entry.size_class].capacity);
        listed += entry.listed ? 1 : 0;
        live_bytes += entry.bytes;
        live_count += entry.bytes != 0 ? 1 : 0;
        if (entry.bytes == 0 && entry.in_segment && entry.has_pages)
            free_resident += entry.capacity;
    }
    NW_CHECK(live_bytes == live_bytes_);
    NW_CHECK(live_count == live_count_);
    NW_CHECK(free_resident == free_resident_bytes_);
    for (std::uint32_t c = 0; c < class_count_; ++c) validate_list(c);
    for (std::uint32_t c = 0; c < class_count_; ++c) listed -= classes_[c].free_count;
    NW_CHECK(listed == 0);
}

void LargeBlocks::validate_list(std::uint32_t c) const {
    const SizeClass& size = classes_[c];
    NW_CHECK(size.free_count <= size.blocks);
    NW_CHECK(size.blocks <= size.room);
    NW_CHECK(std::is_heap(size.free, size.free + size.free_count, std::greater<>()));
    for (std::uint32_t n = 0; n < size.free_count; ++n) {
        const Entry& entry = entries_[size.free[n]];
        NW_CHECK(entry.listed);
        NW_CHECK(entry.size_class == c);
    }
}

}  // namespace nw
