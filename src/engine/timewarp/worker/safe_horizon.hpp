// SPDX-License-Identifier: Apache-2.0
// Determines which events are safe: when such an event is the smallest pending event of this
// worker, no other event can precede it and nothing can undo it any more. A safe event is executed
// irrevocably, and its LP keeps no history.
//
// After a cut, a worker executes nothing below GVT. Events and anti-messages that it sends to
// another LP are later than GVT by at least the model's lookahead, and by at least one generation.
// GVT plus these two minima is the horizon. So when a worker has received everything that was sent
// before the cut, it has received everything below the horizon. This is the case when the worker
// has read the round's result (GvtRounds, `arrivals`) and then its mail. An LP's sends to itself
// are executed in order. A worker that is alone has no horizon: all its events are safe.
//
// Each LP executes events in order up to this horizon, and speculates beyond it. The horizon is the
// committed virtual time of Jefferson and Barnes, "Virtual Time III: Unification of conservative
// and optimistic synchronization in parallel discrete event simulation" (WSC 2017), with one
// horizon per worker.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>

#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

struct Contribution;
struct GvtResult;

class SafeHorizon {
  public:
    explicit SafeHorizon(WorkerCore& core);

    // Called for each new GVT. `groups_move`: some groups change their worker with this round, so
    // that mail for them may arrive late. The horizon then does not advance for this round and the
    // next two.
    void on_gvt(const GvtResult& result, bool groups_move) noexcept;

    // Must be called once for each round whose result requests that all workers stop, in the order
    // of rounds. Returns whether the workers can stop now: no worker has irrevocably executed an
    // event at stop_bound() or later. The return value is the same on all workers.
    //
    // The first call lowers the worker's horizon to just beyond the events that the worker has
    // executed. The result of the next round contains the maximum of the lowered horizons of all
    // workers. The workers can stop when GVT is beyond the time of that maximum. An endless chain
    // of events with zero delay keeps GVT at one time. Therefore, after stop_patience
    // (engine/saved_worker.hpp), the workers stop at the maximum itself, between two generations.
    bool try_stop(const GvtResult& result) noexcept;
    // Returns the bound of the stop: events before it are final. Requires: try_stop(result) has
    // returned true.
    EventBound stop_bound(const GvtResult& result) const noexcept;
    // Called after the workers have stopped.
    void resume() noexcept;

    void contribute(Contribution& sums) const noexcept;

  private:
    enum class Stage : std::uint8_t { running, lowered, agreed };

    EventBound beyond(const GvtResult& result) const noexcept;

    WorkerCore& core_;  // only this class changes its safe_before
    const bool is_on_;
    const bool is_alone_;
    Stage stage_ = Stage::running;
    std::uint32_t rounds_held_ = 0;  // further rounds for which the horizon does not advance
    EventBound agreed_before_{0};    // irrevocable events of all workers are before it
    VirtualTime stalled_gvt_ = 0;    // GVT at stalled_since_
    WorkerCore::Clock::time_point stalled_since_{};
};

}  // namespace nw
