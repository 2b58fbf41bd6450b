// SPDX-License-Identifier: Apache-2.0
// A worker: a share of a Time Warp run. One thread at a time takes its turns. A worker owns groups
// of LPs with their pending events and histories, and only this worker changes them. Events from
// and for other workers pass through mail rings, bottom halves and outboxes.
//
// The class Worker itself defines the order of the steps of a turn, and reacts to a new GVT. Its
// parts do all other work; each part owns its state:
//
//     LpStages               builds, starts, ends and destroys LPs, outside of the turns
//     Inbox                  reads mail
//     Executor               executes events, with RollbackCheck
//     Sends                  from schedule() to the outboxes
//     Rollbacks              undoes events, with Deferrals
//     Committer              commits events
//     Throttle, SafeHorizon  limit how far the worker executes
//     Ending, Standstill     end the run and stop the worker
//     Pauses                 saves the worker, moves its groups to other ranks
//     Handovers              moves groups between workers
//     Housekeeping           memory and CPU
//
// WorkerCore is the state that all parts use.
//
// Thread: if not stated otherwise, the worker's own thread or its carrier. The main thread runs the
// constructor and all calls after the last turn, except finalize().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/inbox.hpp"
#include "engine/timewarp/worker/lp_stages.hpp"
#include "engine/timewarp/worker/safe_horizon.hpp"
#include "engine/timewarp/worker/standstill.hpp"
#include "engine/timewarp/worker/throttle.hpp"
#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Executor;
class Handovers;
class Housekeeping;
class Pauses;
class Rollbacks;
class Sends;
class WorkerCheck;
struct MemoryKinds;
struct RunEnd;
struct WorkerTally;

class alignas(64) Worker final {
  public:
    using Clock = WorkerCore::Clock;

    Worker(Rank& rank, WorkerId id);
    ~Worker();

    // Runs on_start() of the worker's LPs: LpStages::start().
    void start(Clock::time_point now = Clock::now()) { lps().start(now); }

    // Executes one turn, and returns whether there was anything to do. Never blocks, so that a test
    // can run many workers and ranks in one thread. `now` is the time of the clock; tests pass
    // other times. If the turn is carried (engine/turn_loop.hpp), it does not bind its thread to
    // another CPU.
    bool turn(Clock::time_point now = Clock::now(), bool is_carried = false);

    // Whether the worker's thread may sleep until another thread has mail before horizon() or a
    // result for the worker. Requires: the last turn had nothing to do.
    bool may_sleep() const noexcept;
    VirtualTime horizon() const noexcept { return throttle_.horizon(); }
    // Called before and after the thread sleeps. Requires: may_sleep().
    bool has_work();
    void note_slept() { core_.marks.mark(TraceKind::idle, 1); }
    // Whether the worker's own thread must take the next turn, because the turn will bind this
    // thread to another CPU.
    bool needs_own_thread() const noexcept;

    // Whether the run is over for this worker: all final events are committed, and no message is in
    // flight. (After a failure, the worker does not wait for messages in flight.)
    bool finished() const noexcept { return standstill_.phase() == Standstill::Phase::finished; }
    // Whether the worker is paused. When all workers are paused, everything before a GVT (with its
    // generation) is committed, no event beyond this GVT is executed, and no message is in flight.
    bool paused() const noexcept { return standstill_.phase() == Standstill::Phase::paused; }

    // Called after all workers have finished, in the worker's thread.
    void finalize();

    // The worker's parts, for callers outside of the turns.
    LpStages lps() noexcept;
    Executor& executor() noexcept { return *executor_; }
    Pauses& pauses() noexcept { return *pauses_; }
    WorkerCore& core() noexcept { return core_; }
    Counters& counters() noexcept { return core_.counters; }

    // Results. end() requires: finished().
    RunEnd end() const noexcept;
    // Sets the counters, figures and groups.
    void report(WorkerTally& tally) const noexcept;
    // Adds to sums[r] the number of events and anti-messages that were sent to rank r.
    void add_sent_to(std::vector<std::uint64_t>& sums) const;
    const MemoryKinds& memory_kinds() const noexcept;

    // Checks all invariants of the worker; throws InternalError if one is violated. Returns the
    // approximate number of objects that it has checked. Requires: no turn is running.
    std::uint64_t validate();

  private:
    void on_gvt();
    void advance(const GvtResult& result);
    void cut();
    void hand_over();
    Inbox inbox() noexcept { return {core_, *handovers_, *rollbacks_, standstill_}; }
    WorkerCheck check() noexcept;

    WorkerCore core_;
    Throttle throttle_{core_};
    SafeHorizon safe_horizon_{core_};
    Committer committer_{core_};
    Ending ending_{core_};
    Standstill standstill_{core_};
    const std::unique_ptr<Sends> sends_;
    const std::unique_ptr<Rollbacks> rollbacks_;
    const std::unique_ptr<Executor> executor_;
    const std::unique_ptr<Handovers> handovers_;
    const std::unique_ptr<Pauses> pauses_;
    const std::unique_ptr<Housekeeping> housekeeping_;
};

// The workers of a rank, by number.
using Workers = std::vector<std::unique_ptr<Worker>>;

}  // namespace nw
