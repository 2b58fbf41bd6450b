// SPDX-License-Identifier: Apache-2.0
// Interruption of handlers that run long, on events executed out of order. A loop that ends in
// every state of a correct execution may be endless in a state that only speculation creates.
// HandlerWatch sends a request, the worker's own thread decides, and a jump leaves the handler as
// after a crash.
//
// The event is then deferred. It has an entry in its LP's history like a failed event, and the LP
// executes nothing. Unlike a failed event, it holds GVT back (Contribution::deferred), so that all
// earlier events can still arrive. When everything else is beyond it, nothing can undo it any more:
// it is irrevocable. It is rolled back, becomes the smallest pending event, and its handler runs
// without interruption. Several deferred events with one bound do not wait for each other, because
// their effects have larger bounds.
//
// --check-interrupt defers events at random, for tests.

#include <algorithm>

#include "engine/timewarp/parts/worker_core_inline.hpp"
#include "engine/timewarp/worker/worker.hpp"
#include "util/check.hpp"

namespace nw {

RunningHandler Worker::running_handler() const noexcept {
    RunningHandler handler = core_.running.handler();
    if (const EventRecord* event = core_.running.event)
        handler.irrevocable = !may_interrupt_ || is_running_irrevocable() || event->irrevocable ||
                              (core_.running.silent && !is_coasting_ahead()) ||
                              *core_.running.hook != '\0';
    return handler;
}

bool Worker::is_chosen_for_interruption(const EventRecord& event) const noexcept {
    if (event.irrevocable) return false;
    Random dice(~core_.plan.config.seed, event.sender,
                event.serial);  // independent of --check-rollback
    return dice.chance(core_.plan.config.check_interrupt);
}

// As for a failed handler, but without a message: this entry is never committed.
void Worker::defer_running() {
    drop_sends();
    EventRecord& event = *core_.running.event;
    event.failed = true;
    event.deferred = true;
    core_.running.lp->failed = true;
    deferred_.push_back(&event);
    ++core_.counters[Counter::interrupted_handlers];
}

void Worker::forget_deferred(EventRecord& event) noexcept {
    event.deferred = false;
    deferred_.erase(std::find(deferred_.begin(), deferred_.end(), &event));
}

EventBound Worker::first_deferred() const noexcept {
    EventBound first;
    for (const EventRecord* event : deferred_) first = std::min(first, event->bound());
    return first;
}

// Rolls back the deferred events that `is_meant` selects. A rollback may undo other deferred
// events, too; these are then pending or freed.
template <class Condition>
void Worker::take_back_deferred(Condition&& is_meant) {
    core_.expect_earlier_events();
    const std::vector<EventRecord*> events = deferred_;
    for (EventRecord* event : events) {
        if (std::find(deferred_.begin(), deferred_.end(), event) == deferred_.end()) continue;
        if (!is_meant(*event)) continue;
        roll_back_to(*event);
        cancel_processed();
    }
}

void Worker::run_irrevocable_deferred(const Contribution& sums) {
    const EventBound first = sums.deferred;
    if (deferred_.empty() || !(first < sums.gvt_of_others())) return;
    take_back_deferred([&](EventRecord& event) {
        event.irrevocable = event.bound() == first;
        return event.irrevocable;
    });
}

// Called before groups change their worker. Deferred events of these groups become pending again,
// and move as such. `new_workers`: by group.
void Worker::give_back_deferred(const std::vector<std::uint32_t>& new_workers) {
    take_back_deferred([&](const EventRecord& event) {
        return new_workers[core_.plan.partition.position(event.target).group] != core_.self.worker;
    });
}

}  // namespace nw
