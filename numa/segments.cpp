#include "numa/segments.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "numa/heap_scope.hpp"
#include "numa/slot_layout.hpp"

namespace nw {
namespace {

// State above this counts against the source's limit.
constexpr std::size_t limited_bytes = std::size_t{1} << 20;

// A group that has taken this much is expected to fill huge pages. With a low bound small groups would
// waste most of one, with a high bound a group's first megabytes would stay in small pages.
constexpr std::size_t huge_worthy_bytes = std::size_t{1} << 20;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

std::byte* align_up(std::byte* p, std::size_t alignment) noexcept {
    return p + (~reinterpret_cast<std::uintptr_t>(p) + 1) % alignment;
}

}  // namespace

SegmentTable::SegmentTable(MemorySource& source, GroupId group) : source_(source), group_(group) {
    if (const Region* region = source.region()) {
        NW_CHECK(index(group) < region->groups());
        huge_asked_ = source.huge_pages() != HugePages::automatic;
        const std::span<std::byte> range = SlotLayout{region->slot(group)}.segments();
        begin_ = cursor_ = range.data();
        end_ = begin_ + range.size();
    }
}

SegmentTable::~SegmentTable() {
    const PlatformScope platform;
    while (count_ != 0) release_segment(map_[count_ - 1].base);
    std::free(map_);
}

void* SegmentTable::allocate_segment(std::size_t bytes, SegmentKind kind) noexcept {
    const bool libc = source_.mode() == MemoryMode::libc;
    const bool state = kind == SegmentKind::state;
    if (bytes > SIZE_MAX / 2) return nullptr;
    bytes = round_up(std::max(bytes, std::size_t{1}), libc && state ? span_bytes : page_bytes);
    if (state && bytes >= limited_bytes &&
        (bytes > source_.memory_cap() || source_.segment_bytes() > source_.memory_cap() - bytes))
        return nullptr;
    if (count_ == capacity_ && !make_room()) return nullptr;
    void* base = nullptr;
    if (!libc)
        base = take_range(bytes, kind);
    else
        base = state ? LibcSegments::allocate(bytes) : LibcSegments::allocate_unlisted(bytes);
    if (base == nullptr) return nullptr;
    {
        const std::lock_guard guard(lock_);
        map_[count_++] = {static_cast<std::byte*>(base), bytes, kind};
    }
    active_bytes_ += bytes;
    source_.count_segment(static_cast<std::int64_t>(bytes));
    return base;
}

void SegmentTable::release_segment(void* base) noexcept {
    Segment* const end = map_ + count_;
    // The newest are the likeliest to go.
    Segment* entry = end;
    while (entry != map_ && (entry - 1)->base != base) --entry;
    if (entry == map_) return;
    --entry;
    const Segment segment = *entry;
    {
        const std::lock_guard guard(lock_);
        *entry = *(end - 1);
        --count_;
    }
    active_bytes_ -= segment.bytes;
    source_.count_segment(-static_cast<std::int64_t>(segment.bytes));
    if (source_.mode() == MemoryMode::numa) {
        source_.os().discard(segment.base, segment.bytes);
        give_range(segment.base, segment.bytes);
    } else if (segment.kind == SegmentKind::state) {
        LibcSegments::release(segment.base, segment.bytes);
    } else {
        LibcSegments::release_unlisted(segment.base);
    }
}

void SegmentTable::copy_entries(std::vector<Segment>& entries) const {
    // Memory for the copy is had without the lock.
    for (std::size_t wanted = 0;; entries.reserve(2 * wanted)) {
        const std::lock_guard guard(lock_);
        wanted = count_;
        if (wanted > entries.capacity()) continue;
        entries.assign(map_, map_ + count_);
        return;
    }
}

void SegmentTable::discard(void* base, std::size_t bytes) noexcept {
    source_.os().discard(base, bytes);
}

// Doubles the table. It is libc's: a state segment for it would be a group's overhead of a page.
bool SegmentTable::make_room() noexcept {
    const PlatformScope platform;
    const std::size_t wanted = std::max<std::size_t>(4, capacity_ * 2);
    auto* grown = static_cast<Segment*>(std::malloc(wanted * sizeof(Segment)));
    if (grown == nullptr) return false;
    std::copy_n(map_, count_, grown);
    {
        // Whoever copies the table out must not be in the old one when it goes.
        const std::lock_guard guard(lock_);
        std::swap(map_, grown);
        capacity_ = wanted;
    }
    std::free(grown);
    return true;
}

// State comes from fresh addresses while there are any: what an LP gets later then lies higher, run
// after run, wherever the platform has released something in between.
std::byte* SegmentTable::take_range(std::size_t bytes, SegmentKind kind) noexcept {
    if (kind == SegmentKind::platform) {
        std::byte* const reused = take_free_range(bytes, page_bytes);
        return reused != nullptr ? reused : take_fresh_range(bytes, page_bytes);
    }
    std::byte* const fresh = take_fresh_range(bytes, span_bytes);
    return fresh != nullptr ? fresh : take_free_range(bytes, span_bytes);
}

std::byte* SegmentTable::take_free_range(std::size_t bytes, std::size_t alignment) noexcept {
    for (std::size_t i = 0; i < free_ranges_.size(); ++i) {
        const Range range = free_ranges_[i];
        std::byte* const base = align_up(range.base, alignment);
        if (base + bytes > range.base + range.bytes) continue;
        free_ranges_.erase(free_ranges_.begin() + static_cast<std::ptrdiff_t>(i));
        give_range(range.base, static_cast<std::size_t>(base - range.base));
        give_range(base + bytes,
                   static_cast<std::size_t>(range.base + range.bytes - (base + bytes)));
        return base;
    }
    return nullptr;
}

std::byte* SegmentTable::take_fresh_range(std::size_t bytes, std::size_t alignment) noexcept {
    std::byte* const base = align_up(cursor_, alignment);
    if (base >= end_ || static_cast<std::size_t>(end_ - base) < bytes) return nullptr;
    give_range(cursor_, static_cast<std::size_t>(base - cursor_));
    cursor_ = base + bytes;
    if (!huge_asked_) [[unlikely]]
        ask_for_huge_pages();
    return base;
}

// Of the whole slot, so that neighbouring large groups still make one mapping.
void SegmentTable::ask_for_huge_pages() noexcept {
    if (static_cast<std::size_t>(cursor_ - begin_) < huge_worthy_bytes) return;
    const std::span<std::byte> slot = source_.region()->slot(group_);
    huge_asked_ = true;
    if (source_.is_short()) return;
    source_.os().advise_huge(slot.data(), slot.size(), true);
}

void SegmentTable::discard_fresh() noexcept {
    if (!has_huge_pages()) return;
    const auto after = (reinterpret_cast<std::uintptr_t>(cursor_) | (huge_page_bytes - 1)) + 1;
    const auto end = std::min(after, reinterpret_cast<std::uintptr_t>(end_));
    const std::size_t bytes = end - reinterpret_cast<std::uintptr_t>(cursor_);
    if (bytes != 0) discard(cursor_, bytes);
}

// Keeps a range for reuse, merged with its neighbours. When even the list has no memory the range
// is lost until the group ends: address space only.
void SegmentTable::give_range(std::byte* base, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    const PlatformScope platform;
    auto after = std::lower_bound(free_ranges_.begin(), free_ranges_.end(), base,
                                  [](const Range& r, std::byte* b) { return r.base < b; });
    if (after != free_ranges_.begin() && (after - 1)->base + (after - 1)->bytes == base) {
        --after;
        after->bytes += bytes;
    } else if (after != free_ranges_.end() && base + bytes == after->base) {
        after->base = base;
        after->bytes += bytes;
    } else {
        try {
            after = free_ranges_.insert(after, Range{base, bytes});
        } catch (const std::bad_alloc&) {
            return;
        }
    }
    const auto next = after + 1;
    if (next != free_ranges_.end() && after->base + after->bytes == next->base) {
        after->bytes += next->bytes;
        free_ranges_.erase(next);
    }
    if (after->base + after->bytes == cursor_) {
        cursor_ = after->base;
        free_ranges_.erase(after);
    }
}

void SegmentTable::save(Packer& out) const {
    out(std::vector<Segment>(map_, map_ + count_));
    out(free_ranges_);
    out(cursor_);
}

void SegmentTable::load(Unpacker& in) {
    while (count_ != 0) release_segment(map_[count_ - 1].base);
    std::vector<Segment> entries;
    in(entries);
    in(free_ranges_);
    in(cursor_);
    while (capacity_ < entries.size())
        if (!make_room()) throw std::bad_alloc();
    {
        const std::lock_guard guard(lock_);
        std::copy(entries.begin(), entries.end(), map_);
        count_ = entries.size();
    }
    for (const Segment& segment : entries) active_bytes_ += segment.bytes;
    source_.count_segment(static_cast<std::int64_t>(active_bytes_));
    if (!huge_asked_) ask_for_huge_pages();
}

void SegmentTable::validate() const {
    NW_CHECK(count_ <= capacity_);
    std::size_t bytes = 0;
    std::vector<Range> ranges = free_ranges_;
    for (const Segment& s : entries()) {
        NW_CHECK(s.bytes != 0);
        NW_CHECK(s.bytes % page_bytes == 0);
        NW_CHECK(reinterpret_cast<std::uintptr_t>(s.base) % page_bytes == 0);
        NW_CHECK(s.kind != SegmentKind::state ||
                 reinterpret_cast<std::uintptr_t>(s.base) % span_bytes == 0);
        if (source_.region() != nullptr) NW_CHECK(source_.region()->group_of(s.base) == group_);
        bytes += s.bytes;
        ranges.push_back({s.base, s.bytes});
    }
    NW_CHECK(bytes == active_bytes_);
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.base < b.base; });
    for (std::size_t i = 0; i + 1 < ranges.size(); ++i)
        NW_CHECK(ranges[i].base + ranges[i].bytes <= ranges[i + 1].base);
    for (std::size_t i = 0; i + 1 < free_ranges_.size(); ++i)
        NW_CHECK(free_ranges_[i].base + free_ranges_[i].bytes < free_ranges_[i + 1].base);
    if (source_.region() != nullptr) {
        // Every page below the cursor is active or free: nothing is lost.
        std::size_t covered = 0;
        for (const Range& r : ranges) covered += r.bytes;
        NW_CHECK(covered == static_cast<std::size_t>(cursor_ - begin_));
        NW_CHECK(ranges.empty() || ranges.back().base + ranges.back().bytes == cursor_);
        NW_CHECK(ranges.empty() || ranges.front().base == begin_);
        NW_CHECK(cursor_ <= end_);
    }
}

}  // namespace nw
