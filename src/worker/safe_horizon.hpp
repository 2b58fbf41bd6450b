// Which events are safe: when they come up, everything before them that can ever reach this worker has
// reached it, so nothing will undo them. They are executed for good, and nothing of their LP's past is kept.
//
// What is executed after a cut has GVT as its lower bound, and whatever it sends to another LP lies the
// model's lookahead further on, but at least one generation; so do the anti-messages of what is taken back. Up to
// there a worker therefore knows all that comes from others once it has received what was sent before the cut; and
// that it has when it knows the round's result (GvtRounds, `arrivals`). An LP's sends to itself come up in
// order. A worker that is alone knows everything.
//
// So each LP executes in order up to this horizon and speculates beyond it: the committed virtual time of
// Jefferson and Barnes, "Virtual Time III: Unification of conservative and optimistic synchronization in
// parallel discrete event simulation" (WSC 2017), with one horizon for a worker.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>

#include "worker/worker_core.hpp"

namespace nw {

struct GvtResult;

class SafeHorizon {
  public:
    explicit SafeHorizon(WorkerCore& core);

    // A new GVT is known. `groups_move`: some groups change their worker with this round, so that mail for them may
    // arrive late. The horizon then stays where it is for this round and the next two.
    void on_gvt(const GvtResult& result, bool groups_move) noexcept;

    // The result of a round asks the run to stand still. Returns whether the run can do so now: no worker has
    // irrevocably executed an event at stop_bound() or later. The return value is the same on all workers.
    //
    // In the first such round each worker lowers its horizon to just beyond the events that it has executed. The next
    // round carries the maximum of these horizons, which does not depend on the lookahead. The run can stand still when
    // GVT lies beyond the time of that maximum. A chain of zero delays without end keeps GVT at one time: after
    // stop_patience the run stands still at the maximum itself, between two generations.
    bool may_stand_still(const GvtResult& result) noexcept;
    // Events before it are final. Requires: may_stand_still(result).
    EventBound stop_bound(const GvtResult& result) const noexcept;
    // After the run stood still.
    void resume() noexcept;

    // Two fields of the worker's contribution to a round (gvt/contribution.hpp).
    EventBound irrevocable_before() const noexcept;
    bool splits_time() const noexcept;

  private:
    enum class Stage : std::uint8_t { running, drawn_in, agreed };

    EventBound beyond(const GvtResult& result) const noexcept;

    WorkerCore& core_;  // its safe_before is changed here alone
    const bool is_on_;
    const bool is_alone_;
    Stage stage_ = Stage::running;
    std::uint32_t rounds_held_ = 0;  // for which the horizon still stays
    EventBound agreed_before_{0};    // of all workers: what is irrevocable is before it
    VirtualTime stands_at_ = 0;      // GVT since that moment, or since the request
    WorkerCore::Clock::time_point stands_since_{};
};

}  // namespace nw
