// SPDX-License-Identifier: Apache-2.0
// A group's segments, and the table of all segments. Segments are ranges of memory that have no
// page in common. State, events, sent records and snapshots of a group are only in its segments. So
// moving the pages of the segments moves the group.
//
// The table is the mem_map of "NUMA Time Warp" (PADS 2015, section 3): an allocation takes the
// first free entry, a release copies the last entry down, and a full table is doubled. Entries are
// dense: entry i is active iff i < entries().size().
//
// One cursor cuts address space from the group's slot (slot_layout.hpp) for both kinds of segments,
// so that a small group needs few page-table pages. The pages of released ranges return to the
// kernel; the ranges are merged and reused first-fit. State reuses released ranges only if the slot
// has no fresh addresses left.
//
// The open memory (region.hpp) is the memory that is handed out, and some slack: an eighth of the
// memory that is handed out, but at least 256 KiB and at most 64 MiB. So there are few system
// calls, and a walk along a broken list touches little memory before it reaches a closed page. The
// slack is beyond the cursor. Released ranges that exceed the slack are closed, too.
//
// Thread: one owner. The owner may call the functions while an LP heap is current, because the
// tables are in libc's memory. Other threads may copy the table (copy_ranges). The owner holds a
// lock while it changes an entry. Other threads hold the lock while they copy, and not while they
// use the copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

#include "memory/region/memory_source.hpp"
#include "numa/place/placed_group.hpp"
#include "util/locks.hpp"
#include "util/packing.hpp"

namespace nw {

enum class SegmentKind : std::uint8_t { state, platform };

struct Segment {
    std::byte* base;
    std::size_t bytes;  // multiple of the page size
    SegmentKind kind;
};

// State segments begin at multiples of this size. A mask converts an address into the beginning of
// its span.
inline constexpr std::size_t span_bytes = 64 * 1024;

// The size of the address range that a segment takes. A state segment begins at a multiple of
// span_bytes. With huge pages, the memory from its end to the next multiple is resident, too.
constexpr std::size_t taken_bytes(const Segment& segment) noexcept {
    if (segment.kind != SegmentKind::state) return segment.bytes;
    return (segment.bytes + span_bytes - 1) / span_bytes * span_bytes;
}

class SegmentTable {
  public:
    SegmentTable(MemorySource& source, GroupId group);
    ~SegmentTable();  // releases all segments, unless the source keeps the contents
    SegmentTable(const SegmentTable&) = delete;
    SegmentTable& operator=(const SegmentTable&) = delete;

    // Returns at least `bytes` bytes, in whole pages that belong only to this segment. The contents
    // are undefined. Returns nullptr if the slot is full. Also returns nullptr for state if the
    // source's limit would be exceeded and the running handler call would have taken 1 MiB or more.
    // If there is no room for platform memory, the running handler may be abandoned
    // (abandon_handler()). Cost: O(1) unless ranges were released before.
    void* allocate_segment(std::size_t bytes, SegmentKind kind) noexcept;
    // Requires: allocate_segment() returned base. Cost: a search of the table, and a system call,
    // which takes much longer than the search.
    void release_segment(void* base) noexcept;
    // Returns the pages of [base, base + bytes) to the kernel and keeps the range. Requires: whole
    // pages.
    void discard(void* base, std::size_t bytes) noexcept;
    // Returns to the kernel the part of the huge page at the cursor that is beyond the cursor.
    void discard_fresh() noexcept;

    std::span<const Segment> entries() const noexcept { return {map_, count_}; }
    // Replaces `ranges` by the active entries (PlacedGroup::copy_segments). Thread: any.
    void copy_ranges(std::vector<PageRange>& ranges) const;
    std::size_t active_bytes() const noexcept { return active_bytes_; }
    // True for every address that was handed out and not released, and for some released addresses.
    // A released address may be closed; an access to it then raises SIGSEGV. Thread: the owner.
    bool is_below_cursor(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) -
                   reinterpret_cast<std::uintptr_t>(begin_) <
               static_cast<std::size_t>(cursor_ - begin_);
    }
    MemorySource& source() const noexcept { return source_; }
    GroupId group() const noexcept { return group_; }
    // Whether the slot's pages may be huge pages.
    bool has_huge_pages() const noexcept {
        return source_.region() != nullptr && source_.huge_pages() != HugePages::off &&
               huge_requested_;
    }

    // save() stores the table without the pages. load() restores the table in the same slot of
    // another process (group_image.hpp) and releases the present segments. Requires: a region.
    void save(Packer& out) const;
    void load(Unpacker& in);

    void validate() const;

  private:
    struct Range {
        std::byte* base;
        std::size_t bytes;
        // 1: the range, or a part of it, must be opened before it is used. The field is a whole
        // word, so that no padding is saved.
        std::uint64_t closed;
    };

    bool make_room() noexcept;
    std::byte* take_range(std::size_t bytes, SegmentKind kind) noexcept;
    std::byte* take_free_range(std::size_t bytes, std::size_t alignment) noexcept;
    std::byte* take_fresh_range(std::size_t bytes, std::size_t alignment) noexcept;
    void request_huge_pages() noexcept;
    void give_range(Range range) noexcept;
    void forget_range(std::size_t i) noexcept;
    void lower_cursor(const Range& top) noexcept;
    std::size_t slack(const std::byte* end) const noexcept;
    bool has_closed_pages() const noexcept { return open_end_ != nullptr && !all_open_; }
    std::byte* open_step(std::byte* end) const noexcept;
    bool open_up_to(std::byte* end) noexcept;
    void close_from(std::byte* begin) noexcept;
    bool set_access(const Range& range, bool open) noexcept;

    MemorySource& source_;
    GroupId group_;
    // The owner writes map_, count_ and capacity_ under the lock, and reads them without the lock.
    mutable SpinLock lock_;
    Segment* map_ = nullptr;
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
    std::size_t active_bytes_ = 0;
    // Huge pages were requested, or need no request. Also read by threads that send mail.
    std::atomic<bool> huge_requested_{true};
    std::byte* begin_ = nullptr;   // of the segments in the slot; begin_ ≤ cursor_ ≤ end_
    std::byte* cursor_ = nullptr;  // [cursor_, end_) was never handed out
    std::byte* end_ = nullptr;
    std::byte* open_end_ = nullptr;    // [begin_, open_end_) is open, except closed free ranges
    bool all_open_ = false;            // the whole slot is always open: see Region's cells
    std::vector<Range> free_ranges_;   // by address; no range touches another range or cursor_
    std::size_t open_free_bytes_ = 0;  // sum of the open free_ranges_
};

}  // namespace nw
