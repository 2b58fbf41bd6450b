// SPDX-License-Identifier: Apache-2.0
// Events whose handler was interrupted, because it ran long while the event was out of order. A
// loop that ends in every state of a correct execution may be endless in a state that only
// speculation creates. HandlerWatch requests the interruption, the worker's own thread checks
// whether the event can still be undone, and a jump leaves the handler as after a crash.
//
// The event is then deferred. It has an entry in its LP's history like a failed event, and the LP
// executes no further events. Unlike a failed event, a deferred event limits GVT
// (Contribution::deferred), so that all earlier events can still arrive. When everything else in
// the run is beyond the event, nothing can undo the event any more: it is irrevocable. Then the
// event is rolled back, becomes the smallest pending event, and its handler runs without
// interruption. Several deferred events with one bound do not wait for each other, because their
// effects have larger bounds.
//
// --check-interrupt defers events at random, for tests.
//
// Owner: Rollbacks. Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "api/event_key.hpp"

namespace nw {

class Rollbacks;
struct Contribution;
struct EventRecord;
struct WorkerCore;

class Deferrals {
  public:
    Deferrals(WorkerCore& core, Rollbacks& rollbacks);

    // Whether handlers can be interrupted: other workers exist, and no LP uses reverse computation.
    bool is_possible() const noexcept { return is_possible_; }
    // Whether --check-interrupt selects the event.
    bool chooses(const EventRecord& event) const noexcept;
    // Whether --check-interrupt is on, so that it may select events.
    bool draws() const noexcept;

    // Defers the running event. Requires: its sends were dropped.
    void add_running();
    // Called when a deferred event is undone.
    void forget(EventRecord& event) noexcept;
    // The bound of the first deferred event; infinite if there is none.
    EventBound first() const noexcept;

    // Called for each new GVT. Moves the deferred events that have become irrevocable back to the
    // pending set.
    void run_irrevocable(const Contribution& sums);
    // Called before groups change their worker. Deferred events of these groups become pending
    // again, and move with the other pending events. `new_workers`: the new worker of each group.
    void give_back(const std::vector<std::uint32_t>& new_workers);

    // Requires: `marked` is the number of events in histories that are marked as deferred.
    void validate(std::size_t marked) const;

  private:
    template <class Condition>
    void take_back(Condition&& is_meant);

    WorkerCore& core_;
    Rollbacks& rollbacks_;
    const bool is_possible_;
    std::vector<EventRecord*> events_;  // in histories, as failed events
};

}  // namespace nw
