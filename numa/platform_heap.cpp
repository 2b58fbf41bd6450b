#include "numa/platform_heap.hpp"

#include <algorithm>
#include <new>

#include "base/check.hpp"

namespace nw {

std::size_t PlatformHeap::class_of(std::size_t bytes) noexcept {
    if (bytes <= small_max) return (bytes + (alignment - 1)) / alignment;
    const unsigned top = static_cast<unsigned>(std::bit_width(bytes - 1)) - 1;  // ≥ 10
    return small_classes + (top - 10) * 4 + (((bytes - 1) >> (top - 2)) & 3);
}

void* PlatformHeap::allocate_slow(std::size_t bytes) {
    const std::size_t chunk = chunk_bytes(bytes);
    if (bytes > chunk_max) {
        void* const segment = segments_.allocate_segment(bytes, SegmentKind::platform);
        if (segment == nullptr) throw PlatformOutOfMemory();
        live_bytes_ += chunk;
        held_bytes_ += chunk;
        return segment;
    }
    Chunk*& head = free_[class_of(bytes)];
    void* result = head;
    if (head != nullptr)
        head = head->next;
    else
        result = cut(std::max(chunk, alignment));
    live_bytes_ += chunk;
    return result;
}

void PlatformHeap::free_slow(void* address, std::size_t bytes) noexcept {
    live_bytes_ -= chunk_bytes(bytes);
    if (bytes > chunk_max) {
        held_bytes_ -= chunk_bytes(bytes);
        segments_.release_segment(address);
        return;
    }
    Chunk*& head = free_[class_of(bytes)];
    Chunk* const chunk = static_cast<Chunk*>(address);
    chunk->next = head;
    head = chunk;
}

void* PlatformHeap::cut(std::size_t bytes) {
    if (segments_.source().is_short()) [[unlikely]] {
        void* const part = split_larger(bytes);
        if (part != nullptr) return part;
    }
    if (static_cast<std::size_t>(bump_end_ - bump_) < bytes && !take_spare(bytes)) {
        // A large chunk gets a segment to itself rather than the rest of this one being lost.
        const bool alone = bytes * 4 > refill_bytes_;
        const std::size_t segment_bytes = alone ? bytes : refill_bytes_;
        void* const segment = segments_.allocate_segment(segment_bytes, SegmentKind::platform);
        if (segment == nullptr) throw PlatformOutOfMemory();
        held_bytes_ += (segment_bytes + (page_bytes - 1)) / page_bytes * page_bytes;
        if (!alone) refill_bytes_ = std::min(refill_bytes_ * 2, chunk_max);
        if (alone && bump_ != bump_end_) return segment;
        keep_rest();
        bump_ = static_cast<std::byte*>(segment);
        bump_end_ = bump_ + (segment_bytes + (page_bytes - 1)) / page_bytes * page_bytes;
    }
    void* const result = bump_;
    bump_ += bytes;
    return result;
}

void PlatformHeap::validate() const {
    std::size_t free_bytes = static_cast<std::size_t>(bump_end_ - bump_);
    for (const Chunk* head : free_) {
        for (const Chunk* chunk = head; chunk != nullptr; chunk = chunk->next) {
            NW_CHECK(reinterpret_cast<std::uintptr_t>(chunk) % alignment == 0);
            const auto* address = reinterpret_cast<const std::byte*>(chunk);
            bool inside = false;
            for (const Segment& s : segments_.entries())
                inside |= s.kind == SegmentKind::platform && address >= s.base &&
                          address < s.base + s.bytes;
            NW_CHECK(inside);
            free_bytes += alignment;
        }
    }
    std::size_t segment_bytes = 0;
    for (const Segment& s : segments_.entries())
        if (s.kind == SegmentKind::platform) segment_bytes += s.bytes;
    NW_CHECK(held_bytes_ == segment_bytes);
    NW_CHECK(live_bytes_ + free_bytes <= segment_bytes);
}

}  // namespace nw
