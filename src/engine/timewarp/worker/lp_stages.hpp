// SPDX-License-Identifier: Apache-2.0
// The work on a worker's LPs outside of the worker's turns. LPs are built, or read from a saved
// run. They are started, ended and destroyed. The class has no state.
//
// Thread: if not stated otherwise, the worker's own thread; after the last turn, the main thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/timewarp/worker/inbox.hpp"
#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Committer;
class Ending;
class MeasureSums;
class MemoryBudget;
class Sends;
struct PausedRun;
struct SavedRun;

class LpStages {
  public:
    LpStages(WorkerCore& core, Committer& committer, Ending& ending, Sends& sends,
             Rollbacks& rollbacks, Inbox inbox)
        : core_(core),
          committer_(committer),
          ending_(ending),
          sends_(sends),
          rollbacks_(rollbacks),
          inbox_(inbox) {}

    // Builds the worker's groups, with pages on the node of the calling thread. The groups of all
    // workers are built before the first start(). Thread: the worker's own thread, or one thread
    // for all workers (docs/decisions/0016).
    void build_groups();
    // Called instead of build_groups() and start(): reads the groups of a saved run.
    void read_groups(const SavedRun& saved);
    // Called instead of build_groups() and start(): continues the run of another engine.
    void continue_from(PausedRun& paused);
    // Runs on_start() of the worker's LPs. `now`: the time of the clock; tests pass other times.
    // Throws ModelError; failed_lp() then returns the LP.
    void start(WorkerCore::Clock::time_point now = WorkerCore::Clock::now());

    // Builds a group that has left another rank in a pause at the virtual time `now`. Throws the
    // exceptions of build_lps() and read_group().
    void take_group(std::uint32_t group, std::string_view bytes, VirtualTime now);

    // Called after all workers have finished. Restores each LP's state after its last final event.
    void finalize();
    // Not called if the run was interrupted. on_end() reads `end_time` as now(). Rows are written
    // to the output immediately. Throws ModelError.
    void run_on_end(LpRecord& lp, VirtualTime end_time, MeasureSums& measures);
    // Calls the model's destructors. Throws ModelError. Not called after a failure, because the
    // failure may have left the LPs' states incomplete.
    void destroy_lps(const std::atomic<int>& stop_signal);

    // Null if there are no interval measures.
    const IntervalSums* intervals() const noexcept { return core_.intervals.get(); }
    // The LP whose function has failed.
    std::uint32_t failed_lp() const noexcept { return core_.running.lp->id; }

  private:
    Group& build_group(std::uint32_t g, MemoryBudget* budget);
    Group& settle_in(Group& group);
    void resume_copy(Group& group, const std::vector<EventRecord*>& pending, VirtualTime now);
    void resume(Group& group);
    void run_on_start(Group& group, LpRecord& lp);

    WorkerCore& core_;
    Committer& committer_;
    Ending& ending_;
    Sends& sends_;
    Rollbacks& rollbacks_;
    Inbox inbox_;
};

}  // namespace nw
