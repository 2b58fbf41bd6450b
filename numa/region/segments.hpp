// A group's segments: page-disjoint ranges of memory, and the table that knows them all. State,
// events, sent records and snapshots of a group live here and nowhere else, so that a group can be
// moved by moving the pages of its segments.
//
// The table is the mem_map of "NUMA Time Warp" (PADS 2015, section 3): the first free entry is
// taken on allocation, the last entry is copied down on release, the table doubles when full.
// Entries are dense: entry i is active iff i < entries().size().
//
// Address space is cut from the group's slot (slot_layout.hpp) by one cursor for both kinds, so that a
// small group needs few page-table pages; released ranges are discarded, merged and reused
// first-fit, by state only when the slot has nothing fresh left.
//
// What may be touched (region.hpp) is what is handed out and some slack: an eighth of it, at least 256
// KiB and at most 64 MiB. So there are few system calls, and a walk along a broken list touches little
// before it meets a closed page. The slack lies beyond the cursor; released ranges, too, are closed
// when they are more than that.
// One owner thread. It may be called with an LP heap current: its own tables are libc's. Others may
// copy the table out (copy_entries): the owner holds a lock while it changes an entry, they hold it
// while they copy, and never while they use what they copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

#include "base/packing.hpp"
#include "base/spin_lock.hpp"
#include "numa/region/memory_source.hpp"

namespace nw {

enum class SegmentKind : std::uint8_t { state, platform };

struct Segment {
    std::byte* base;
    std::size_t bytes;  // a multiple of the page size
    SegmentKind kind;
};

// State segments start at multiples of this: the memory of LPs is found from an address by masking.
inline constexpr std::size_t span_bytes = 64 * 1024;

// The size of the addresses that a segment takes: state begins at a span, and where pages are huge what
// lies before the next one is resident with it.
constexpr std::size_t taken_bytes(const Segment& segment) noexcept {
    if (segment.kind != SegmentKind::state) return segment.bytes;
    return (segment.bytes + span_bytes - 1) / span_bytes * span_bytes;
}

class SegmentTable {
  public:
    SegmentTable(MemorySource& source, GroupId group);
    ~SegmentTable();  // releases what is left, unless the source keeps it
    SegmentTable(const SegmentTable&) = delete;
    SegmentTable& operator=(const SegmentTable&) = delete;

    // At least `bytes`, in whole pages that belong to nobody else; contents undefined. nullptr
    // when the slot is full or, for large state and what one call of a handler takes beyond 1 MiB, when
    // the source's limit is reached.
    // Cost: O(1) unless ranges were released before.
    void* allocate_segment(std::size_t bytes, SegmentKind kind) noexcept;
    // Requires: base came from allocate_segment. Cost: a search of the table, which a system call
    // dwarfs.
    void release_segment(void* base) noexcept;
    // Gives the pages of [base, base + bytes) back, keeping the range. Requires: whole pages.
    void discard(void* base, std::size_t bytes) noexcept;
    // Gives back what a huge page at the cursor holds beyond it.
    void discard_fresh() noexcept;

    std::span<const Segment> entries() const noexcept { return {map_, count_}; }
    // The active entries as of now. A segment may be released the moment after: its addresses then
    // have no pages, or those of a younger segment of the same group. Thread: any. Throws
    // std::bad_alloc. Cost: the owner can be held up while 24 bytes a segment are copied.
    void copy_entries(std::vector<Segment>& entries) const;
    std::size_t active_bytes() const noexcept { return active_bytes_; }
    // True for every address that was handed out and not released, and some that were, which may be
    // closed: then a look is a fault, as it is anywhere else. Thread: the owner.
    bool is_below_cursor(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) -
                   reinterpret_cast<std::uintptr_t>(begin_) <
               static_cast<std::size_t>(cursor_ - begin_);
    }
    MemorySource& source() const noexcept { return source_; }
    GroupId group() const noexcept { return group_; }
    // Whether the slot's pages may be huge ones.
    bool has_huge_pages() const noexcept {
        return source_.region() != nullptr && source_.huge_pages() != HugePages::off && huge_asked_;
    }

    // The table without its pages, and the same table again, in the same slot of another process
    // (group_image.hpp). What the table held before is given back. Requires: a region.
    void save(Packer& out) const;
    void load(Unpacker& in);

    void validate() const;

  private:
    struct Range {
        std::byte* base;
        std::size_t bytes;
        // Not (all of it) may be touched before it is opened. A word, lest padding be saved.
        std::uint64_t closed;
    };

    bool make_room() noexcept;
    std::byte* take_range(std::size_t bytes, SegmentKind kind) noexcept;
    std::byte* take_free_range(std::size_t bytes, std::size_t alignment) noexcept;
    std::byte* take_fresh_range(std::size_t bytes, std::size_t alignment) noexcept;
    void ask_for_huge_pages() noexcept;
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
    // The owner writes map_, count_ and capacity_ under the lock, and reads them without.
    mutable SpinLock lock_;
    Segment* map_ = nullptr;
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
    std::size_t active_bytes_ = 0;
    bool huge_asked_ = true;  // nothing (more) to ask of the kernel
    std::byte* begin_ =
        nullptr;  // of the slot's part that is for segments: begin_ ≤ cursor_ ≤ end_
    std::byte* cursor_ = nullptr;  // [cursor_, end_) was never handed out
    std::byte* end_ = nullptr;
    std::byte* open_end_ = nullptr;    // [begin_, open_end_) is open but for closed free ranges
    bool all_open_ = false;            // nothing of this slot is ever closed: see Region's cells
    std::vector<Range> free_ranges_;   // by address; none touches another or cursor_
    std::size_t open_free_bytes_ = 0;  // of those that are not closed
};

}  // namespace nw
