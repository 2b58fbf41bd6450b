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

#include "worker/worker_core.hpp"

namespace nw {

struct GvtResult;

class SafeHorizon {
  public:
    explicit SafeHorizon(WorkerCore& core);

    // A new GVT is known. `groups_move`: some change their worker with this round, and mail for them may
    // arrive late; the next round comes when it has arrived.
    void on_gvt(const GvtResult& result, bool groups_move) noexcept;

    // From the round on that asks for it the horizon stays where it is. Returns whether GVT has come to it:
    // then nothing beyond GVT has been executed for good, and the run can stand still there. All workers
    // say so with the same round.
    bool is_reached(const GvtResult& result) noexcept;
    // After the run stood still.
    void resume() noexcept;

  private:
    WorkerCore& core_;  // its safe_before is changed here alone
    EventBound beyond(const GvtResult& result) const noexcept;

    const bool is_on_;
    const bool is_alone_;
    bool is_fixed_ = false;
    EventBound fixed_at_{0};
};

}  // namespace nw
