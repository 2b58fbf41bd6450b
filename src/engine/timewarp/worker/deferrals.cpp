// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/deferrals.hpp"

#include <algorithm>

#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "util/check.hpp"

namespace nw {

Deferrals::Deferrals(WorkerCore& core, Rollbacks& rollbacks)
    : core_(core),
      rollbacks_(rollbacks),
      is_possible_(core.plan.restores_after_failures() && !core.is_alone) {}

bool Deferrals::draws() const noexcept {
    return is_possible_ && core_.plan.config.check_interrupt > 0;
}

bool Deferrals::chooses(const EventRecord& event) const noexcept {
    if (event.irrevocable) return false;
    Random dice(~core_.plan.config.seed, event.sender,
                event.serial);  // independent of --check-rollback
    return dice.chance(core_.plan.config.check_interrupt);
}

// As for a failed handler, but without a message: this entry is never committed.
void Deferrals::add_running() {
    EventRecord& event = *core_.running.event;
    event.failed = true;
    event.deferred = true;
    core_.running.lp->failed = true;
    events_.push_back(&event);
    ++core_.counters[Counter::interrupted_handlers];
}

void Deferrals::forget(EventRecord& event) noexcept {
    event.deferred = false;
    events_.erase(std::find(events_.begin(), events_.end(), &event));
}

EventBound Deferrals::first() const noexcept {
    EventBound first;
    for (const EventRecord* event : events_) first = std::min(first, event->bound());
    return first;
}

// Rolls back the deferred events that `is_meant` selects. A rollback may undo other deferred
// events, too; these are then pending or freed.
template <class Condition>
void Deferrals::take_back(Condition&& is_meant) {
    core_.expect_earlier_events();
    const std::vector<EventRecord*> events = events_;
    for (EventRecord* event : events) {
        if (std::find(events_.begin(), events_.end(), event) == events_.end()) continue;
        if (!is_meant(*event)) continue;
        rollbacks_.roll_back_to(*event);
    }
}

void Deferrals::run_irrevocable(const Contribution& sums) {
    const EventBound first = sums.deferred;
    if (events_.empty() || !(first < sums.gvt_of_others())) return;
    take_back([&](EventRecord& event) {
        event.irrevocable = event.bound() == first;
        return event.irrevocable;
    });
}

void Deferrals::give_back(const std::vector<std::uint32_t>& new_workers) {
    take_back([&](const EventRecord& event) {
        return new_workers[core_.plan.partition.position(event.target).group] != core_.self.worker;
    });
}

void Deferrals::validate(std::size_t marked) const {
    NW_CHECK(events_.size() == marked);
    std::vector<EventRecord*> sorted = events_;
    std::sort(sorted.begin(), sorted.end());
    NW_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    for (const EventRecord* event : events_) NW_CHECK(event->deferred && event->failed);
}

}  // namespace nw
