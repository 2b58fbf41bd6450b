// Handlers that run long out of order: a loop that ends in every state that there can be may be endless
// in one that never was. HandlerWatch asks, the worker's own thread decides, and the handler is left by
// a jump, as if it had crashed.
//
// The event then stands in its LP's history as a failed one does, and the LP rests. Unlike a failed one
// it holds GVT (Contribution::put_aside), so that all that comes before it can still come. Once
// everything else is beyond it, nothing can undo it any more: it is certain. It is rolled back, comes up as
// the earliest event of all, and runs for as long as it likes. Several that are put aside at the same
// bound do not wait for each other: what they cause has a larger one.
//
// --check-interrupt draws such events, for tests.

#include <algorithm>

#include "base/check.hpp"
#include "timewarp/worker.hpp"
#include "worker/worker_core_inline.hpp"

namespace nw {

RunningHandler Worker::running_handler() const noexcept {
    RunningHandler handler = core_.running.handler();
    if (const EventRecord* event = core_.running.event)
        handler.certain = !may_interrupt_ || is_running_for_good() || event->certain ||
                          (core_.running.silent && !is_coasting_ahead()) ||
                          *core_.running.hook != '\0';
    return handler;
}

bool Worker::is_chosen_for_interruption(const EventRecord& event) const noexcept {
    if (event.certain) return false;
    Random dice(~core_.plan.config.seed, event.sender,
                event.serial);  // not those of --check-rollback
    return dice.chance(core_.plan.config.check_interrupt);
}

// Like a handler that failed, but without words: this is never committed.
void Worker::put_aside_running() {
    drop_sends();
    EventRecord& event = *core_.running.event;
    event.failed = true;
    event.put_aside = true;
    core_.running.lp->failed = true;
    put_aside_.push_back(&event);
    ++core_.counters[Counter::interrupted_handlers];
}

void Worker::forget_put_aside(EventRecord& event) noexcept {
    event.put_aside = false;
    put_aside_.erase(std::find(put_aside_.begin(), put_aside_.end(), &event));
}

EventBound Worker::first_put_aside() const noexcept {
    EventBound first;
    for (const EventRecord* event : put_aside_) first = std::min(first, event->bound());
    return first;
}

// A rollback may take others of them back, too; those are pending or gone afterwards.
template <class Condition>
void Worker::take_back_put_aside(Condition&& is_meant) {
    core_.expect_earlier_events();
    const std::vector<EventRecord*> events = put_aside_;
    for (EventRecord* event : events) {
        if (std::find(put_aside_.begin(), put_aside_.end(), event) == put_aside_.end()) continue;
        if (!is_meant(*event)) continue;
        roll_back_to(*event);
        cancel_processed();
    }
}

void Worker::run_what_is_certain(const Contribution& sums) {
    const EventBound first = sums.put_aside;
    if (put_aside_.empty() || !(first < sums.gvt_of_others())) return;
    take_back_put_aside([&](EventRecord& event) {
        event.certain = event.bound() == first;
        return event.certain;
    });
}

// Before groups change their worker (`new_workers`, by group): what is put aside in them is pending again,
// and travels so.
void Worker::give_back_put_aside(const std::vector<std::uint32_t>& new_workers) {
    take_back_put_aside([&](const EventRecord& event) {
        return new_workers[core_.plan.partition.position(event.target).group] != core_.self.worker;
    });
}

}  // namespace nw
