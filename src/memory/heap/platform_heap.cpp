// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/platform_heap.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

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

constexpr std::uint64_t all_free = ~std::uint64_t{0};
static_assert(page_bytes == 64 * PlatformHeap::alignment, "a page is a word of the map");

std::size_t page_offset(const std::byte* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % page_bytes;
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

// --- Memory is short -----------------------------------------------------------------------------

// Free chunks are split or joined, and whole pages without a live chunk return to the kernel.
//
// Every address and size is a multiple of 64, so any range can be cut into chunks. Joining chunks
// needs their order by address, but the heap has only lists of free chunks. So release_free_pages()
// marks all free chunks in a bit map. The map has one bit for each 64 bytes, and one word for each
// page. Then the function makes new lists from the runs of set bits.
class PlatformHeap::FreeMap {
  public:
    struct Part {  // a segment
        std::byte* base;
        std::byte* end;
        std::size_t first;  // word of its first page
    };

    explicit FreeMap(std::span<const Segment> segments) {
        for (const Segment& s : segments)
            if (s.kind == SegmentKind::platform) parts_.push_back({s.base, s.base + s.bytes, 0});
        std::sort(parts_.begin(), parts_.end(),
                  [](const Part& a, const Part& b) { return a.base < b.base; });
        std::size_t pages = 0;
        for (Part& part : parts_) {
            part.first = pages;
            pages += static_cast<std::size_t>(part.end - part.base) / page_bytes;
        }
        words_.resize(pages);
    }

    // Requires: [begin, end) lies in one segment, and both are multiples of 64.
    void mark(const std::byte* begin, const std::byte* end) noexcept {
        while (begin != end) {
            const std::size_t from = page_offset(begin) / alignment;
            const std::size_t count =
                std::min<std::size_t>(static_cast<std::size_t>(end - begin) / alignment, 64 - from);
            word(begin) |= all_free >> (64 - count) << from;
            begin += count * alignment;
        }
    }
    bool is_free(const Part& part) const noexcept {
        const auto first = words_.begin() + static_cast<std::ptrdiff_t>(part.first);
        const auto pages = (part.end - part.base) / static_cast<std::ptrdiff_t>(page_bytes);
        return std::all_of(first, first + pages, [](std::uint64_t w) { return w == all_free; });
    }

    // Calls visit(begin, end) for each maximal run of free memory, lowest first.
    template <class Visit>
    void for_each_run(const Part& part, Visit visit) const {
        std::byte* begin = nullptr;  // of the current run; null: none
        const std::uint64_t* word = words_.data() + part.first;
        for (std::byte* page = part.base; page != part.end; page += page_bytes, ++word) {
            for (int bit = 0; bit < 64;) {
                const std::uint64_t rest = *word >> bit;
                const bool free = (rest & 1) != 0;
                std::byte* const at = page + static_cast<std::size_t>(bit) * alignment;
                if (free && begin == nullptr) begin = at;
                if (!free && begin != nullptr) visit(std::exchange(begin, nullptr), at);
                bit += std::min(64 - bit, free ? std::countr_one(rest) : std::countr_zero(rest));
            }
        }
        if (begin != nullptr) visit(begin, part.end);
    }
    const std::vector<Part>& parts() const noexcept { return parts_; }

  private:
    std::uint64_t& word(const std::byte* address) noexcept {
        if (address < last_->base || address >= last_->end)
            last_ =
                &*(std::upper_bound(parts_.begin(), parts_.end(), address,
                                    [](const std::byte* a, const Part& p) { return a < p.base; }) -
                   1);
        return words_[last_->first + static_cast<std::size_t>(address - last_->base) / page_bytes];
    }

    static constexpr Part nowhere{nullptr, nullptr, 0};
    std::vector<Part> parts_;  // ordered by address
    std::vector<std::uint64_t> words_;
    const Part* last_ = &nowhere;
};

std::size_t PlatformHeap::bytes_of_class(std::size_t c) noexcept {
    if (c < small_classes) return std::max(c * alignment, alignment);
    const std::size_t doubling = (c - small_classes) / 4, step = (c - small_classes) % 4;
    return (small_max << doubling) / 4 * (5 + step);
}

void PlatformHeap::discard_fresh() noexcept {
    std::byte* const fresh_page = bump_ + (page_bytes - page_offset(bump_)) % page_bytes;
    if (fresh_page < bump_end_)
        segments_.discard(fresh_page, static_cast<std::size_t>(bump_end_ - fresh_page));
    segments_.discard_fresh();
}

std::size_t PlatformHeap::release_free_pages() {
    const PlatformScope platform;
    const std::size_t spare_before = spare_bytes_, held_before = held_bytes_;
    discard_fresh();

    FreeMap map(segments_.entries());
    for (std::size_t c = 0; c < classes; ++c) {
        const std::size_t bytes = bytes_of_class(c);
        for (Chunk* chunk = free_[c]; chunk != nullptr; chunk = chunk->next) {
            const auto* const begin = reinterpret_cast<const std::byte*>(chunk);
            map.mark(begin, begin + bytes);
        }
    }
    for (const Range& range : spare_) map.mark(range.base, range.base + range.bytes);

    free_.fill(nullptr);
    spare_.clear();
    spare_bytes_ = 0;
    for (const FreeMap::Part& part : map.parts()) {
        if (map.is_free(part)) {
            held_bytes_ -= static_cast<std::size_t>(part.end - part.base);
            segments_.release_segment(part.base);
        } else {
            map.for_each_run(part,
                             [this](std::byte* begin, std::byte* end) { give_back(begin, end); });
        }
    }
    return held_before - held_bytes_ + spare_bytes_ - spare_before;
}

// Returns whole pages to the kernel and puts the rest into the free lists.
void PlatformHeap::give_back(std::byte* begin, std::byte* end) {
    std::byte* const pages = begin + (page_bytes - page_offset(begin)) % page_bytes;
    std::byte* const pages_end = end - page_offset(end);
    if (pages >= pages_end) {
        put_back(begin, end);
        return;
    }
    const auto bytes = static_cast<std::size_t>(pages_end - pages);
    segments_.discard(pages, bytes);
    spare_.push_back({pages, bytes});
    spare_bytes_ += bytes;
    put_back(begin, pages);
    put_back(pages_end, end);
}

// Cuts [begin, end) into free chunks, each of the largest class that fits.
void PlatformHeap::put_back(std::byte* begin, std::byte* end) noexcept {
    while (begin != end) {
        const std::size_t rest = std::min(static_cast<std::size_t>(end - begin), chunk_max);
        std::size_t c = class_of(rest);
        if (bytes_of_class(c) > rest) --c;
        Chunk* const chunk = reinterpret_cast<Chunk*>(begin);
        chunk->next = free_[c];
        free_[c] = chunk;
        begin += bytes_of_class(c);
    }
}

// Splits a free chunk of the next larger class that has one. Returns the first part of this chunk,
// or null if there is no larger chunk.
void* PlatformHeap::split_larger(std::size_t bytes) noexcept {
    for (std::size_t c = class_of(bytes) + 1; c < classes; ++c) {
        Chunk* const chunk = free_[c];
        if (chunk == nullptr) continue;
        free_[c] = chunk->next;
        auto* const begin = reinterpret_cast<std::byte*>(chunk);
        put_back(begin + bytes, begin + bytes_of_class(c));
        return chunk;
    }
    return nullptr;
}

// Avoids a new segment: takes pages that were returned to the kernel, if a range of at least
// `bytes` bytes is among the last `looks_max` ranges of spare_.
bool PlatformHeap::take_spare(std::size_t bytes) {
    constexpr std::size_t looks_max = 8;
    for (std::size_t i = spare_.size(); i != 0 && i + looks_max > spare_.size(); --i) {
        const Range range = spare_[i - 1];
        if (range.bytes < bytes) continue;
        spare_[i - 1] = spare_.back();
        spare_.pop_back();
        spare_bytes_ -= range.bytes;
        keep_rest();
        bump_ = range.base;
        bump_end_ = range.base + range.bytes;
        return true;
    }
    return false;
}

// Stores the rest of [bump_, bump_end_) in spare_ and in the lists, before another range replaces
// it.
void PlatformHeap::keep_rest() {
    const PlatformScope platform;
    std::byte* const pages = bump_ + (page_bytes - page_offset(bump_)) % page_bytes;
    if (pages < bump_end_) {
        const auto bytes = static_cast<std::size_t>(bump_end_ - pages);
        spare_.push_back({pages, bytes});
        spare_bytes_ += bytes;
        put_back(bump_, pages);
    } else {
        put_back(bump_, bump_end_);
    }
}

}  // namespace nw
