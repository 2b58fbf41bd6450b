// SPDX-License-Identifier: Apache-2.0
#include "memory/region/segments.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/region/slot_layout.hpp"
#include "util/check.hpp"
#include "util/locks.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

// The limit of the source applies to state beyond this size: to single segments, and to the sum for
// one call of a handler.
constexpr std::size_t limited_bytes = std::size_t{1} << 20;

// The limit also applies to the memory that the engine takes on behalf of one call, if this memory
// is at least limited_engine_bytes or 1/limited_engine_share of the limit, whichever is less. A
// call that takes less must not fail: near the cap, speculation alone may use up the memory. The
// bound is low, because an interrupted call that runs again may take this memory each time, and the
// sum must stay within the tolerance of a cap.
constexpr std::size_t limited_engine_bytes = std::size_t{16} << 20;
constexpr std::size_t limited_engine_share = 128;

// Bytes that the thread's current (or last) call of a handler has taken.
std::size_t& taken_by_call() noexcept {
    struct Taken {
        std::uint64_t call;  // HandlerCall::number
        std::size_t bytes;
    };
    static constinit thread_local Taken taken{};
    const std::uint64_t call = handler_call.number.load(std::memory_order_relaxed);
    if (taken.call != call) taken = {call, 0};
    return taken.bytes;
}

// A group that has taken this much is expected to fill huge pages. A lower bound would waste most
// of a huge page in small groups. With a higher bound, a group's first megabytes would stay in
// small pages.
constexpr std::size_t huge_worthy_bytes = std::size_t{1} << 20;

// Bounds for the open pages that are not handed out: see slack(). Between these bounds, the slack
// is an eighth of the memory that is handed out. So a group grows to 2 MiB with 6 system calls, to
// 512 MiB with 50 system calls, and then by 64 MiB per system call. These calls take little time
// compared with the page faults of the memory (one per 4 KiB). The lower bound is open even in the
// smallest group, and strict overcommit counts these pages. The upper bound limits the memory that
// a stray write can reach.
constexpr std::size_t slack_min = std::size_t{256} << 10;
constexpr std::size_t slack_max = std::size_t{64} << 20;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
}

std::byte* align_up(std::byte* p, std::size_t alignment) noexcept {
    return p + (~reinterpret_cast<std::uintptr_t>(p) + 1) % alignment;
}

}  // namespace

SegmentTable::SegmentTable(MemorySource& source, GroupId group) : source_(source), group_(group) {
    if (Region* region = source.region()) {
        NW_CHECK(index(group) < region->groups());
        huge_requested_ = source.huge_pages() != HugePages::automatic;
        const std::span<std::byte> slot = region->slot(group);
        const std::span<std::byte> range = SlotLayout{slot}.segments();
        begin_ = cursor_ = range.data();
        end_ = begin_ + range.size();
        const std::size_t open =
            region->open_slot(group, static_cast<std::size_t>(open_step(begin_) - slot.data()));
        if (open == 0)
            throw MachineError(
                "the kernel refuses memory for a group of LPs; allowed: a larger vm.max_map_count "
                "or fewer groups (--lps-per-group), or, with strict overcommit, more memory");
        all_open_ = open == slot.size();
        open_end_ = all_open_ ? end_ : slot.data() + open;
    }
}

SegmentTable::~SegmentTable() {
    const PlatformScope platform;
    while (count_ != 0 && !source_.keeps_contents()) release_segment(map_[count_ - 1].base);
    std::free(map_);
}

void* SegmentTable::allocate_segment(std::size_t bytes, SegmentKind kind) noexcept {
    const bool libc = source_.mode() == MemoryMode::libc;
    const bool state = kind == SegmentKind::state;
    if (bytes > SIZE_MAX / 2) return nullptr;
    bytes = round_up(std::max(bytes, std::size_t{1}), libc && state ? span_bytes : page_bytes);
    const std::size_t taken_in_all = taken_bytes({nullptr, bytes, kind});
    const bool beyond_limit = taken_in_all > source_.segment_limit() ||
                              source_.segment_bytes() > source_.segment_limit() - taken_in_all;
    if (beyond_limit && state && taken_by_call() + bytes >= limited_bytes) return nullptr;
    // A handler does not request the memory for its events and rows itself, so no call can report
    // the failure to the handler.
    const auto abandon_where_taken = [](std::size_t least) {
        if (in_handler() && taken_by_call() >= least) abandon_handler(out_of_memory_message);
    };
    if (beyond_limit)
        abandon_where_taken(
            std::min(limited_engine_bytes, source_.segment_limit() / limited_engine_share));
    if (count_ == capacity_ && !make_room()) return nullptr;
    void* base = nullptr;
    if (!libc)
        base = take_range(bytes, kind);
    else
        base = state ? LibcSegments::allocate(bytes) : LibcSegments::allocate_unlisted(bytes);
    if (base == nullptr && !state) abandon_where_taken(limited_bytes);
    if (base == nullptr) return nullptr;
    if (state)
        meter_memory<MeterKind::state>(base, bytes);
    else
        meter_memory<MeterKind::engine>(base, bytes);
    {
        const LockGuard guard(lock_);
        map_[count_++] = {static_cast<std::byte*>(base), bytes, kind};
    }
    active_bytes_ += bytes;
    taken_by_call() += bytes;
    source_.count_segment(static_cast<std::int64_t>(taken_in_all));
    return base;
}

void SegmentTable::release_segment(void* base) noexcept {
    Segment* const end = map_ + count_;
    // The search begins at the end, because newer segments are more likely to be released.
    Segment* entry = end;
    while (entry != map_ && (entry - 1)->base != base) --entry;
    if (entry == map_) return;
    --entry;
    const Segment segment = *entry;
    {
        const LockGuard guard(lock_);
        *entry = *(end - 1);
        --count_;
    }
    active_bytes_ -= segment.bytes;
    source_.count_segment(-static_cast<std::int64_t>(taken_bytes(segment)));
    if (source_.mode() == MemoryMode::numa) {
        source_.os().discard(segment.base, segment.bytes);
        give_range({segment.base, segment.bytes, 0});
    } else if (segment.kind == SegmentKind::state) {
        LibcSegments::release(segment.base, segment.bytes);
    } else {
        LibcSegments::release_unlisted(segment.base);
    }
}

void SegmentTable::copy_ranges(std::vector<PageRange>& ranges) const {
    ranges.clear();
    // Memory for the copy is allocated without the lock.
    for (std::size_t wanted = 0;; ranges.reserve(2 * wanted)) {
        const LockGuard guard(lock_);
        wanted = count_;
        if (wanted > ranges.capacity()) continue;
        for (const Segment& segment : entries())
            ranges.push_back(
                {segment.base, segment.bytes,
                 segment.kind == SegmentKind::state ? PageKind::state : PageKind::platform});
        return;
    }
}

void SegmentTable::discard(void* base, std::size_t bytes) noexcept {
    source_.os().discard(base, bytes);
}

// Doubles the table. The table is in libc's memory: a state segment for it would cost one page per
// group.
bool SegmentTable::make_room() noexcept {
    const PlatformScope platform;
    const std::size_t wanted = std::max<std::size_t>(4, capacity_ * 2);
    auto* grown = static_cast<Segment*>(std::malloc(wanted * sizeof(Segment)));
    if (grown == nullptr) return false;
    std::copy_n(map_, count_, grown);
    {
        // A thread that copies the table must not read the old table after its release.
        const LockGuard guard(lock_);
        std::swap(map_, grown);
        capacity_ = wanted;
    }
    std::free(grown);
    return true;
}

// State uses fresh addresses while there are any. So later allocations of an LP have higher
// addresses in every run, independent of the ranges that the platform has released meanwhile.
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
        if (range.closed != 0 && !set_access({base, bytes, 0}, true)) continue;
        forget_range(i);
        give_range({range.base, static_cast<std::size_t>(base - range.base), range.closed});
        give_range({base + bytes,
                    static_cast<std::size_t>(range.base + range.bytes - (base + bytes)),
                    range.closed});
        return base;
    }
    return nullptr;
}

std::byte* SegmentTable::take_fresh_range(std::size_t bytes, std::size_t alignment) noexcept {
    std::byte* const base = align_up(cursor_, alignment);
    if (base >= end_ || static_cast<std::size_t>(end_ - base) < bytes) return nullptr;
    if (base + bytes > open_end_ && !open_up_to(base + bytes)) return nullptr;
    give_range({cursor_, static_cast<std::size_t>(base - cursor_), 0});
    cursor_ = base + bytes;
    if (!huge_requested_) [[unlikely]]
        request_huge_pages();
    return base;
}

// The request covers the whole slot, so that neighboring large groups remain one mapping.
void SegmentTable::request_huge_pages() noexcept {
    if (static_cast<std::size_t>(cursor_ - begin_) < huge_worthy_bytes) return;
    const std::span<std::byte> slot = source_.region()->slot(group_);
    huge_requested_ = true;
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

// Keeps a range for reuse, merged with its neighbors. If there is no memory for the list, the range
// is lost until the group ends. Only address space is lost.
void SegmentTable::give_range(Range range) noexcept {
    if (range.bytes == 0) return;
    const PlatformScope platform;
    bool mixed = false;  // open and closed neighbors were merged
    auto at = static_cast<std::size_t>(
        std::lower_bound(free_ranges_.begin(), free_ranges_.end(), range.base,
                         [](const Range& r, std::byte* b) { return r.base < b; }) -
        free_ranges_.begin());
    const auto absorb = [&](std::size_t neighbor) {
        const Range other = free_ranges_[neighbor];
        forget_range(neighbor);
        range.base = std::min(range.base, other.base);
        range.bytes += other.bytes;
        mixed |= range.closed != other.closed;
        range.closed |= other.closed;
    };
    if (at != free_ranges_.size() && range.base + range.bytes == free_ranges_[at].base) absorb(at);
    if (at != 0 && free_ranges_[at - 1].base + free_ranges_[at - 1].bytes == range.base)
        absorb(--at);
    if (range.base + range.bytes == cursor_) {
        lower_cursor(range);
        return;
    }
    try {
        free_ranges_.insert(free_ranges_.begin() + static_cast<std::ptrdiff_t>(at), range);
    } catch (const std::bad_alloc&) {
        return;
    }
    if (range.closed != 0) {
        source_.region()->force_hole();
    } else if (has_closed_pages() && range.bytes >= span_bytes &&
               open_free_bytes_ + range.bytes > slack(cursor_) && source_.region()->take_hole()) {
        mixed = true;
        free_ranges_[at].closed = 1;
    } else {
        open_free_bytes_ += range.bytes;
    }
    // The result does not matter: a range that is marked as closed is opened before it is used.
    if (mixed) set_access(free_ranges_[at], false);
}

void SegmentTable::forget_range(std::size_t i) noexcept {
    const Range& range = free_ranges_[i];
    if (range.closed != 0)
        source_.region()->give_hole();
    else
        open_free_bytes_ -= range.bytes;
    free_ranges_.erase(free_ranges_.begin() + static_cast<std::ptrdiff_t>(i));
}

// The free range at the cursor becomes fresh again.
void SegmentTable::lower_cursor(const Range& top) noexcept {
    cursor_ = top.base;
    if (!has_closed_pages()) return;
    if (top.closed != 0)
        close_from(cursor_);
    else if (static_cast<std::size_t>(open_end_ - cursor_) > 2 * slack(cursor_))
        close_from(open_step(cursor_));
}

// --- access ---

// Bytes that stay open beyond `end` without being handed out.
std::size_t SegmentTable::slack(const std::byte* end) const noexcept {
    return std::clamp(static_cast<std::size_t>(end - begin_) / 8, slack_min, slack_max);
}

// The end of the part to open if everything below `end` must be open.
std::byte* SegmentTable::open_step(std::byte* end) const noexcept {
    const std::size_t grain = has_huge_pages() ? huge_page_bytes : span_bytes;
    if (static_cast<std::size_t>(end_ - end) <= slack(end) + grain) return end_;
    return align_up(end + slack(end), grain);
}

bool SegmentTable::open_up_to(std::byte* end) noexcept {
    // Under strict overcommit, the kernel may refuse the slack.
    for (std::byte* const upto : {open_step(end), end}) {
        if (!set_access({open_end_, static_cast<std::size_t>(upto - open_end_), 0}, true)) continue;
        open_end_ = upto;
        source_.region()->note_open(group_, open_end_);
        return true;
    }
    return false;
}

void SegmentTable::close_from(std::byte* begin) noexcept {
    if (begin >= open_end_) return;
    // open_end_ is lowered even if the kernel refuses. Open pages beyond open_end_ are harmless,
    // but closed pages below open_end_ would not be. Some of the pages from `begin` on may already
    // be closed, because a closed free range may have become fresh.
    set_access({begin, static_cast<std::size_t>(open_end_ - begin), 0}, false);
    open_end_ = begin;
    source_.region()->note_open(group_, open_end_);
}

bool SegmentTable::set_access(const Range& range, bool open) noexcept {
    return source_.region()->set_access(range.base, range.bytes, open);
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
    while (!free_ranges_.empty()) forget_range(free_ranges_.size() - 1);
    std::vector<Range> ranges;
    in(ranges);
    in(cursor_);
    if (cursor_ > open_end_ && !open_up_to(cursor_)) throw std::bad_alloc();
    for (Range& range : ranges) {
        range.closed = 0;
        give_range(range);
    }
    while (capacity_ < entries.size())
        if (!make_room()) throw std::bad_alloc();
    {
        const LockGuard guard(lock_);
        std::copy(entries.begin(), entries.end(), map_);
        count_ = entries.size();
    }
    for (const Segment& segment : entries) {
        active_bytes_ += segment.bytes;
        source_.count_segment(static_cast<std::int64_t>(taken_bytes(segment)));
    }
    if (!huge_requested_) request_huge_pages();
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
        ranges.push_back({s.base, s.bytes, 0});
    }
    NW_CHECK(bytes == active_bytes_);
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.base < b.base; });
    for (std::size_t i = 0; i + 1 < ranges.size(); ++i)
        NW_CHECK(ranges[i].base + ranges[i].bytes <= ranges[i + 1].base);
    for (std::size_t i = 0; i + 1 < free_ranges_.size(); ++i)
        NW_CHECK(free_ranges_[i].base + free_ranges_[i].bytes < free_ranges_[i + 1].base);
    if (source_.region() != nullptr) {
        // Every page below the cursor is active or free: no page is lost.
        std::size_t covered = 0;
        for (const Range& r : ranges) covered += r.bytes;
        NW_CHECK(covered == static_cast<std::size_t>(cursor_ - begin_));
        NW_CHECK(ranges.empty() || ranges.back().base + ranges.back().bytes == cursor_);
        NW_CHECK(ranges.empty() || ranges.front().base == begin_);
        NW_CHECK(cursor_ <= open_end_);
        NW_CHECK(open_end_ <= end_);
    }
    std::size_t open_free_bytes = 0;
    for (const Range& range : free_ranges_)
        if (range.closed == 0) open_free_bytes += range.bytes;
    NW_CHECK(open_free_bytes == open_free_bytes_);
}

}  // namespace nw
