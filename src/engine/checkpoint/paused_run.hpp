// SPDX-License-Identifier: Apache-2.0
// A run between two engines: one engine has stopped, and another one continues with the same LPs in
// the same process. Everything before `gvt` is executed and committed, and nothing at or after
// `gvt` has been executed. No LP has a history, and no message is in flight. Pending events with a
// payload have records.
//
// Each worker moves its groups into this object or out of it, and accesses only the entries of
// these groups and its own entry of `workers`. The main thread writes the other members. Worker 0
// of the next engine takes `history` and `loop`.
#pragma once

#include <memory>
#include <vector>

#include "event/pending_entry.hpp"
#include "lp/group.hpp"
#include "plan/run_plan.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/statistics/run_history.hpp"
#include "results/statistics/stopwatch.hpp"
#include "results/statistics/worker_tally.hpp"

namespace nw {

// The progress of a worker. The worker with the same number continues it in the next engine.
struct PausedWorker {
    WorkerTally tally;  // without `groups`
    IntervalSums intervals;
    VirtualTime last_committed_time = 0;
    bool dropped_beyond_end = false;  // the worker has dropped an event at --until or later
};

struct PausedRun {
    explicit PausedRun(const RunPlan& plan)
        : groups(plan.partition.groups()),
          pending(plan.partition.groups()),
          workers(plan.workers) {}

    std::vector<std::unique_ptr<Group>> groups;      // by number; null: on another rank
    std::vector<std::vector<PendingEntry>> pending;  // by group
    std::vector<PausedWorker> workers;               // of this rank
    VirtualTime gvt = 0;
    RunHistory history;
    Stopwatch loop;  // began with the event loop of the run's first engine
};

}  // namespace nw
