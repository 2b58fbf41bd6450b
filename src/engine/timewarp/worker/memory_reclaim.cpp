// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/memory_reclaim.hpp"

#include <algorithm>

#include "engine/timewarp/worker/worker_core_inline.hpp"

namespace nw {
namespace {

// Limits for the work of one turn. Each kind of work (forgetting LPs, releasing memory, returning
// mail pages) delays the next cut by about half of the interval between GVT rounds, which is 1 ms
// by default; one turn may contain all three kinds. If the calls of free() for one forgotten LP
// take 2 µs in total, 256 LPs take 0.5 ms. A visit to a group costs one memory access that misses
// the cache.
constexpr std::size_t forgotten_lps_per_turn = 256;
constexpr std::chrono::seconds walk_interval{1};
constexpr std::chrono::microseconds release_time_per_turn{500};
constexpr std::chrono::nanoseconds group_visit_time{100};

// Unless memory is full, a worker spends at most 1/release_time_share of its time on releasing
// memory.
constexpr int release_time_share = 10;

// Minimum time between two counts of the heaps' free bytes, because a count visits all groups.
constexpr std::chrono::milliseconds count_interval{1};

// The interval after which each group returns the pages of its mail, if no mail has arrived in this
// interval. A group with such pages takes 4 to 5 µs (docs/results/constants-2026-11-23.csv), so
// mail_trims_per_turn groups take about half a millisecond. A group without such pages takes at
// most 100 ns. So 100,000 groups, which are many, take 1 % of a worker's time with the long
// interval. With the short interval (20 ms), a walk over 100,000 groups without such pages takes
// 782 turns of 12 µs, which is half of the interval.
constexpr std::chrono::seconds mail_trim_interval{1};
constexpr std::chrono::milliseconds mail_trim_interval_low{20};
constexpr std::size_t mail_trims_per_turn = 128;

bool is_worth_releasing(const PlatformHeap& heap) noexcept {
    const std::size_t free = heap.free_bytes();
    return free >= 4 * page_bytes && free >= heap.held_bytes() / 16;
}

}  // namespace

void MemoryReclaim::on_gvt(std::uint64_t uncommitted, std::size_t pending) {
    MemoryBudget& budget = core_.rank.memory_budget();
    events_ahead_max_ = Throttle::unlimited;
    if (budget.level(core_.now) == MemoryBudget::Level::ample) [[likely]] {
        is_low_ = false;
        return;
    }
    if (core_.self.worker == 0 && budget.is_infeasible(core_.now)) budget.give_up(core_.gvt);
    if (!is_low_) forgotten_groups_ = forgotten_lps_ = 0;
    is_low_ = true;
    const std::size_t event_bytes =
        core_.keeper.bytes_per_event() +
        std::max(core_.log.bytes_per_event() + sizeof(PendingEntry),
                 core_.stride + 2 * PlatformHeap::chunk_bytes(sizeof(EventRecord) +
                                                              core_.plan.rules.payload_bytes_max));
    // The free memory in heaps of groups is used for events in histories, but not for events in the
    // log.
    const double in_histories =
        core_.uses_log
            ? static_cast<double>(uncommitted - std::min(uncommitted, core_.log.size())) /
                  static_cast<double>(std::max<std::uint64_t>(uncommitted, 1))
            : 1;
    const auto free_bytes =
        static_cast<std::uint64_t>(in_histories * static_cast<double>(free_heap_bytes(pending)));
    events_ahead_max_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        budget.bytes_ahead(uncommitted * event_bytes, free_bytes) / event_bytes,
        Throttle::unlimited - 1));
}

std::uint64_t MemoryReclaim::free_heap_bytes(std::size_t pending) noexcept {
    if (core_.now - heaps_counted_at_ >= count_interval) {
        heaps_counted_at_ = core_.now;
        free_heap_bytes_ = 0;
        std::uint64_t needed =
            pending * sizeof(PendingEntry) + core_.short_events.bytes() + core_.log.used_bytes();
        for (Group* group : core_.groups) {
            free_heap_bytes_ += group->heap.free_bytes();
            needed += group->heap.live_bytes() + group->memory.spans().used_bytes();
        }
        core_.rank.memory_budget().note_needed(core_.self.worker, needed);
    }
    return free_heap_bytes_;
}

void MemoryReclaim::give_back(MemoryBudget::Level level) {
    if (!is_low_) return;
    forget_some();
    if (core_.rank.memory_budget().wants_release() && core_.now >= next_release_)
        release_some(level == MemoryBudget::Level::full);
}

// A group that rebinding moves during a walk may be left out of this walk.
void MemoryReclaim::trim_mail() {
    if (core_.now < trim_due_) return;
    const std::size_t end = std::min(core_.groups.size(), trimmed_ + mail_trims_per_turn);
    for (; trimmed_ < end; ++trimmed_) core_.groups[trimmed_]->mail.trim();
    if (trimmed_ < core_.groups.size()) return;
    trimmed_ = 0;
    trim_due_ = core_.now + (is_low_ ? mail_trim_interval_low : mail_trim_interval);
}

// Visits each LP once per walk. An LP with uncommitted events keeps what a rollback needs.
void MemoryReclaim::forget_some() {
    if (forgotten_groups_ >= core_.groups.size()) {
        if (core_.now < walk_due_) return;
        forgotten_groups_ = 0;
        walk_due_ = core_.now + walk_interval;
    }
    for (std::size_t left = forgotten_lps_per_turn;
         left > 0 && forgotten_groups_ < core_.groups.size();) {
        Group& group = *core_.groups[forgotten_groups_];
        if (forgotten_lps_ >= group.count) {
            ++forgotten_groups_;
            forgotten_lps_ = 0;
            continue;
        }
        LpRecord& lp = group.lps[forgotten_lps_++];
        // An LP on a list of the committer is forgotten after its commit.
        if (!lp.has_uncommitted && lp.committed == lp.history.tail()) {
            if (!core_.log.contains_events_of(lp))
                core_.forget(group, lp);
            else if (lp.history.empty())
                lp.history.release(core_.stride, group.heap);
        }
        --left;
    }
}

void MemoryReclaim::release_some(bool full) {
    // The time is estimated from the visited groups and their free bytes, and not read from the
    // clock, so that a stepped run can be replayed.
    std::chrono::nanoseconds spent{0};
    for (std::size_t n = 0; n < core_.groups.size() && spent < release_time_per_turn; ++n) {
        if (++released_groups_ >= core_.groups.size()) {
            released_groups_ = 0;
            if (core_.self.worker == 0) core_.rank.os().release_libc_memory();
        }
        PlatformHeap& heap = core_.groups[released_groups_]->heap;
        spent += group_visit_time;
        if (!is_worth_releasing(heap)) continue;
        spent += std::chrono::nanoseconds(heap.free_bytes());
        heap.release_free_pages();
    }
    heaps_counted_at_ = {};
    next_release_ = core_.now + (full ? 1 : release_time_share) * spent;
}

}  // namespace nw
