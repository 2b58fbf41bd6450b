// SPDX-License-Identifier: Apache-2.0
#include "lp/past_log.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

// Number of commits after which trim() decides. Each commit belongs to a GVT round. There are at
// most some thousands of rounds per second, so the ring is copied at most about a hundred times per
// second.
constexpr std::uint32_t trims_per_decision = 32;

constexpr std::size_t rounded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace

PastLog::PastLog(std::size_t undo_bytes, std::size_t state_bytes_max, std::size_t payload_bytes_max,
                 std::size_t capacity_least)
    : mask_(std::bit_ceil(std::max(capacity_least, capacity_min)) - 1),
      capacity_least_(capacity()),
      undo_bytes_(undo_bytes),
      fixed_bytes_(sizeof(LogEntry) + undo_bytes + state_bytes_max + rounded(payload_bytes_max)) {
    // LoggedExecution::end() copies as many bytes as the largest short payload has, also for a
    // smaller payload.
    slack_ = slack_min();
    ring_ = std::make_unique_for_overwrite<std::byte[]>(ring_bytes());
    if (capacity_least_ > capacity_min) std::memset(ring_.get(), 0, ring_bytes());
}

// Makes room for an entry of `bytes` at the tail. The entry may extend into the slack.
[[gnu::noinline]] void PastLog::make_room(std::size_t bytes) {
    if (bytes > slack_min()) large_until_ = tail_ + bytes;
    if (bytes <= slack_ && used_bytes() + bytes <= capacity()) return;
    slack_ = std::max(slack_, bytes);
    resize(std::bit_ceil(std::max(used_bytes() + slack_, capacity())));
}

// Copies all entries, and the entry that is being made.
void PastLog::resize(std::size_t capacity) {
    auto ring = std::make_unique_for_overwrite<std::byte[]>(capacity + slack_);
    meter_memory<MeterKind::history>(ring.get(), capacity + slack_);
    const auto copy = [&](Offset offset, std::size_t bytes) {
        std::memcpy(ring.get() + (offset & (capacity - 1)), &at(offset), bytes);
    };
    for (Offset offset = head_; offset != tail_; offset += at(offset).bytes)
        copy(offset, at(offset).bytes);
    copy(tail_, slack_min());
    ring_ = std::move(ring);
    mask_ = capacity - 1;
}

void PastLog::trim(bool memory_is_low) {
    if (++trims_ < trims_per_decision && !memory_is_low) return;
    const std::size_t used = memory_is_low ? used_bytes() : used_most_;
    trims_ = 0;
    used_most_ = used_bytes();
    const bool shrinks_slack = slack_ > slack_min() && head_ >= large_until_;
    if (shrinks_slack) slack_ = slack_min();
    const bool shrinks_ring = capacity() > capacity_least_ && used + slack_ < capacity() / 4;
    if (shrinks_slack || shrinks_ring) resize(shrinks_ring ? capacity() / 2 : capacity());
}

void PastLog::validate() const {
    NW_CHECK(head_ <= tail_);
    NW_CHECK(used_bytes() <= capacity());
    std::unordered_map<const LpRecord*, Offset> newest;
    std::uint64_t size = 0;
    const LogEntry* earlier = nullptr;
    for (Offset offset = head_; offset != tail_;) {
        LogEntry& entry = at(offset);
        NW_CHECK(offset < tail_);
        NW_CHECK(entry.bytes % granule == 0);
        NW_CHECK(entry.bytes <= slack_);
        if ((entry.flags & LogEntry::gone) == 0) {
            NW_CHECK(earlier == nullptr || !before(entry.event, earlier->event));
            earlier = &entry;
            NW_CHECK(entry.bytes >= sizeof(LogEntry) + undo_bytes_ + entry.state_bytes +
                                        entry.sends * sizeof(EventHeader));
            NW_CHECK(entry.event.target == entry.lp->id);
            NW_CHECK(entry.sends <= entry.sent_count);
            NW_CHECK(newest_of(*entry.lp) >= offset);
            const auto [older, is_first] = newest.try_emplace(entry.lp, offset);
            NW_CHECK(is_first ? entry.older < head_ || entry.older < offset
                              : entry.older == older->second);
            older->second = offset;
            ++size;
        }
        offset += entry.bytes;
    }
    for (const auto& [lp, offset] : newest) NW_CHECK(newest_of(*lp) == offset);
    NW_CHECK(size == size_);
}

}  // namespace nw
