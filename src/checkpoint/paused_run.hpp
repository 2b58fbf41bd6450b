// A run between two engines: one engine has stopped, and another one continues with the same LPs in
// the same process. Everything before `gvt` is executed and committed, and nothing from it on has
// been executed. No LP has a history, all events have records, and no message is in flight.
//
// Each worker moves its groups into this object or out of it, and accesses only the entries of
// these groups and its own entry of `workers`. The main thread writes the other members. Worker 0 of
// the next engine takes `history` and `loop`.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "event/event_record.hpp"
#include "lp/group.hpp"
#include "measures/interval_sums.hpp"
#include "plan/run_plan.hpp"
#include "stats/hardware_figures.hpp"
#include "stats/run_history.hpp"
#include "stats/stopwatch.hpp"
#include "stats/worker_figures.hpp"

namespace nw {

// The counts of a worker since the beginning of the run. The worker of the next engine that has the
// same number continues them.
struct PausedWorker {
    Counters counters;
    WorkerFigures figures;
    IntervalSums intervals;
    double busy_seconds = 0;
    double asleep_seconds = 0;
    HardwareCounts hardware;
};

struct PausedRun {
    explicit PausedRun(const RunPlan& plan)
        : groups(plan.partition.groups()),
          pending(plan.partition.groups()),
          workers(plan.workers) {}

    void add_pending(std::uint32_t group, EventRecord& event) noexcept {
        event.next_sent = std::exchange(pending[group], &event);
    }
    // Returns the pending events of the group, and breaks up their chain.
    std::vector<EventRecord*> take_pending(std::uint32_t group) {
        std::vector<EventRecord*> events;
        for (EventRecord* event = std::exchange(pending[group], nullptr); event != nullptr;)
            events.push_back(std::exchange(event, std::exchange(event->next_sent, nullptr)));
        return events;
    }

    std::vector<std::unique_ptr<Group>> groups;  // by number; null: on another rank
    std::vector<EventRecord*> pending;  // by group: chain of its pending events, by next_sent
    std::vector<PausedWorker> workers;  // of this rank
    VirtualTime gvt = 0;
    VirtualTime last_committed_time = 0;  // of this rank
    bool dropped_beyond_end = false;      // this rank has dropped an event at --until or later
    RunHistory history;
    Stopwatch loop;  // began with the event loop of the run's first engine
};

}  // namespace nw
