// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/platform_heap.hpp"

#include <algorithm>
#include <new>

#include "memory/handler/heap_scope.hpp"
#include "memory/region/segments.hpp"
#include "util/check.hpp"
#include "util/packing.hpp"

namespace nw {
namespace {

// The caller may run on behalf of a handler. The exception is made in platform mode, because the
// memory of the handler's LP may be gone when the exception is read.
[[noreturn, gnu::cold]] void throw_out_of_memory() {
    const PlatformScope platform;
    throw PlatformOutOfMemory();
}

}  // namespace

std::size_t PlatformHeap::class_of(std::size_t bytes) noexcept {
    if (bytes <= small_max) return (bytes + (alignment - 1)) / alignment;
    const unsigned top = static_cast<unsigned>(std::bit_width(bytes - 1)) - 1;  // ≥ 10
    return small_classes + (top - 10) * 4 + (((bytes - 1) >> (top - 2)) & 3);
}

void* PlatformHeap::allocate_slow(std::size_t bytes) {
    const std::size_t chunk = chunk_bytes(bytes);
    if (bytes > chunk_max) {
        void* const segment = segments_.allocate_segment(bytes, SegmentKind::platform);
        if (segment == nullptr) throw_out_of_memory();
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
        // A chunk of more than a quarter of refill_bytes_ gets a separate segment. The rest of the
        // current segment stays in use.
        const bool alone = bytes * 4 > refill_bytes_;
        const std::size_t segment_bytes = alone ? bytes : refill_bytes_;
        void* const segment = segments_.allocate_segment(segment_bytes, SegmentKind::platform);
        if (segment == nullptr) throw_out_of_memory();
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

void PlatformHeap::save(Packer& out) const { visit_parts(out, *this); }

void PlatformHeap::load(Unpacker& in) { visit_parts(in, *this); }

// Every free range lies in a segment, and no two ranges overlap. Live and free bytes together are
// at most the bytes of the segments. They may be less, because the rest of the last page of a
// separate segment is not used.
void PlatformHeap::validate() const {
    const PlatformScope platform;
    std::vector<Range> segments;
    std::size_t segment_bytes = 0;
    for (const Segment& s : segments_.entries()) {
        if (s.kind != SegmentKind::platform) continue;
        segments.push_back({s.base, s.bytes});
        segment_bytes += s.bytes;
    }
    NW_CHECK(held_bytes_ == segment_bytes);
    const auto by_address = [](const Range& a, const Range& b) { return a.base < b.base; };
    std::sort(segments.begin(), segments.end(), by_address);

    std::vector<Range> free;
    const auto add = [&](std::byte* base, std::size_t bytes) {
        NW_CHECK(reinterpret_cast<std::uintptr_t>(base) % alignment == 0);
        const auto after =
            std::upper_bound(segments.begin(), segments.end(), Range{base, 0}, by_address);
        NW_CHECK(after != segments.begin());
        const Range& segment = *(after - 1);
        NW_CHECK(base + bytes <= segment.base + segment.bytes);
        free.push_back({base, bytes});
        NW_CHECK(free.size() <= segment_bytes / alignment);  // else a list contains a cycle
    };
    if (bump_ != bump_end_) add(bump_, static_cast<std::size_t>(bump_end_ - bump_));
    std::size_t spare_bytes = 0;
    for (const Range& range : spare_) {
        add(range.base, range.bytes);
        spare_bytes += range.bytes;
    }
    NW_CHECK(spare_bytes == spare_bytes_);
    for (std::size_t c = 0; c < classes; ++c)
        for (Chunk* chunk = free_[c]; chunk != nullptr; chunk = chunk->next)
            add(reinterpret_cast<std::byte*>(chunk), bytes_of_class(c));

    std::sort(free.begin(), free.end(), by_address);
    std::size_t free_bytes = 0;
    for (std::size_t i = 0; i < free.size(); ++i) {
        NW_CHECK(i == 0 || free[i - 1].base + free[i - 1].bytes <= free[i].base);
        free_bytes += free[i].bytes;
    }
    NW_CHECK(live_bytes_ + free_bytes <= segment_bytes);
}

}  // namespace nw
