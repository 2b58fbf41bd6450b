// A worker near --memory-cap (memory_budget.hpp): how many events it may execute beyond GVT, LPs that
// keep nothing of a past that is final, and free pages that go back to the kernel.
//
// Longer state-saving intervals would be no help: history is kept back to the oldest saved state needed,
// and the events in it are more than the states that are spared. An LP without a past needs neither.

#include <algorithm>
#include <cmath>

#include "worker/worker.hpp"

namespace nw {
namespace {

// In one turn, so that it does not delay the next cut. Unmeasured guesses.
constexpr std::size_t forgotten_lps_per_turn = 256;
constexpr std::chrono::microseconds release_time_per_turn{500};
constexpr std::chrono::nanoseconds group_visit_time{100};

// Of the time a worker has, what it spends on giving memory back while it may still run ahead.
constexpr int release_time_share = 10;

// What the heaps hold free is counted this often at most: it takes a look at every group.
constexpr std::chrono::milliseconds count_interval{1};

bool is_worth_releasing(const PlatformHeap& heap) noexcept {
    const std::size_t free = heap.free_bytes();
    return free >= 4 * page_bytes && free >= heap.held_bytes() / 16;
}

}  // namespace

// Called when a new GVT is known. `others`: how many events beyond GVT the worker that is shortest of
// memory, on any rank, may hold: what one worker executes sends events into the memory of another.
void Worker::plan_quota(std::uint32_t others) {
    MemoryBudget& budget = rank_.memory_budget();
    const MemoryBudget::Level level = budget.level(now_);
    events_ahead_max_ = unlimited;
    if (level == MemoryBudget::Level::ample) [[likely]] {
        memory_low_ = false;
    } else {
        if (self_.worker == 0 && budget.is_infeasible(now_)) budget.give_up(gvt_);
        if (!memory_low_) forgotten_groups_ = forgotten_lps_ = 0;
        memory_low_ = true;
        const std::size_t event_bytes =
            keeper_.bytes_per_event() + stride_ +
            2 * PlatformHeap::chunk_bytes(sizeof(EventRecord) + plan_.rules.payload_bytes_max);
        const std::uint64_t taken = events_uncommitted() * event_bytes;
        events_ahead_max_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(
            budget.bytes_ahead(taken, free_heap_bytes()) / event_bytes, unlimited - 1));
    }
    events_ahead_ = std::min(events_ahead_max_, others);
    if (events_ahead_ == unlimited) [[likely]]
        return;
    events_ahead_ -=
        static_cast<std::uint32_t>(std::min<std::uint64_t>(events_ahead_, events_uncommitted()));
    if (events_ahead_ == 0) stay_at_gvt();
}

std::uint64_t Worker::events_uncommitted() const noexcept {
    const auto ahead = static_cast<std::int64_t>(counters_[Counter::executed_events] -
                                                 counters_[Counter::rolled_back_events] -
                                                 counters_[Counter::committed_events]) +
                       uncommitted_taken_over_;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ahead));
}

std::uint64_t Worker::free_heap_bytes() noexcept {
    if (now_ - heaps_counted_at_ >= count_interval) {
        heaps_counted_at_ = now_;
        free_heap_bytes_ = 0;
        std::uint64_t needed = pending_.size() * sizeof(PendingEntry);
        for (Group* group : groups_) {
            free_heap_bytes_ += group->heap.free_bytes();
            needed += group->heap.live_bytes() + group->memory.spans().used_bytes();
        }
        rank_.memory_budget().note_needed(self_.worker, needed);
    }
    return free_heap_bytes_;
}

void Worker::spend_quota(std::uint32_t events) noexcept {
    events_ahead_ -= events;
    if (events_ahead_ == 0) stay_at_gvt();
}

// Until the next round, which this worker will ask for when it finds nothing more to do.
void Worker::stay_at_gvt() noexcept {
    events_ahead_ = unlimited;
    const VirtualTime end = std::nextafter(gvt_, time_infinity);
    if (horizon_ <= end) return;
    horizon_ = end;
    ++counters_[Counter::memory_stops];
}

// Called in every turn that is not ample.
void Worker::apply_memory_pressure(MemoryBudget::Level level) {
    if (level == MemoryBudget::Level::full) stay_at_gvt();
    if (!memory_low_) return;
    forget_some();
    if (rank_.memory_budget().wants_release() && now_ >= next_release_)
        release_some(level == MemoryBudget::Level::full);
}

// LPs that execute something are forgotten when that is committed. This is for all others, once.
void Worker::forget_some() {
    for (std::size_t left = forgotten_lps_per_turn;
         left > 0 && forgotten_groups_ < groups_.size();) {
        Group& group = *groups_[forgotten_groups_];
        if (forgotten_lps_ >= group.count) {
            ++forgotten_groups_;
            forgotten_lps_ = 0;
            continue;
        }
        LpRecord& lp = group.lps[forgotten_lps_++];
        // One that is on a list of LPs to commit is looked at there, and forgotten then.
        if (!lp.has_uncommitted && lp.committed == lp.history.tail()) forget(group, lp);
        --left;
    }
}

// Requires: all that the LP has executed is final.
void Worker::forget(Group& group, LpRecord& lp) {
    collect_fossils_before(group, lp, lp.committed);
    lp.history.release(stride_, group.heap);
    keeper_.forget(lp, group.heap);
}

void Worker::release_some(bool full) {
    // By the bytes looked through and not by the clock, so that a stepped run can be replayed.
    std::chrono::nanoseconds spent{0};
    for (std::size_t n = 0; n < groups_.size() && spent < release_time_per_turn; ++n) {
        if (++released_groups_ >= groups_.size()) {
            released_groups_ = 0;
            if (self_.worker == 0) rank_.release_libc_memory();
        }
        PlatformHeap& heap = groups_[released_groups_]->heap;
        spent += group_visit_time;
        if (!is_worth_releasing(heap)) continue;
        spent += std::chrono::nanoseconds(heap.free_bytes());
        heap.release_free_pages();
    }
    heaps_counted_at_ = {};
    next_release_ = now_ + (full ? 1 : release_time_share) * spent;
}

}  // namespace nw
