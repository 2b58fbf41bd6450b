// What all parts of a worker use: whose it is, what it owns, how far it knows GVT, what the model's
// code that runs now belongs to. The parts (outboxes, throttle, committer, …) have a reference to it,
// and each keeps besides what it alone changes.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/paranoid.hpp"
#include "engine/running_call.hpp"
#include "gvt/epoch_counts.hpp"
#include "lp/state_keeping.hpp"
#include "numa/handler/fault_guard.hpp"
#include "plan/partition.hpp"
#include "stats/trace.hpp"
#include "stats/worker_figures.hpp"

namespace nw {

class IntervalSums;
class Rank;
struct Group;
struct LpExpectations;
struct RunPlan;

struct WorkerCore {
    using Clock = std::chrono::steady_clock;

    WorkerCore(Rank& rank, WorkerId id);
    ~WorkerCore();

    // Its place is among its group's LPs: worker_core_inline.hpp.
    inline LpRecord& lp(std::uint32_t id) const noexcept;
    inline Group& group_of(const LpRecord& lp) const noexcept;
    HistoryEntry& entry_at(LpRecord& lp, History::Ordinal position) const noexcept {
        return lp.history.at(position, stride);
    }

    // To be called before an event may become pending that lies before an irrevocable event: an interrupted event, or an
    // event of a group that the worker takes over. In all other cases `lead` stays beyond all irrevocable events.
    void expect_earlier_events() noexcept { farthest = std::max(farthest, lead); }

    // Fossil collection: frees the events and entries before `needed`. worker_core_inline.hpp
    inline void collect_fossils_before(Group& group, LpRecord& lp,
                                       History::Ordinal needed) noexcept;
    // Nothing is kept for an LP's past but what was learnt of it. Requires: as below.
    inline void drop_past(Group& group, LpRecord& lp) noexcept;
    // The LP keeps no past at all. Requires: all that it has executed is final.
    void forget(Group& group, LpRecord& lp);
    // The same, but for what was learnt of it.
    void drop_history(Group& group, LpRecord& lp);

    // Events by kind of LP and type. figures_of() requires counts_events(). worker_core_inline.hpp
    bool counts_events() const noexcept { return !figures.events.empty(); }
    inline EventFigures& figures_of(const LpRecord& lp, EventType type) noexcept;
    inline void count_time(const LpRecord& lp, EventType type, Clock::time_point start,
                           Clock::time_point end);

    // For the paranoid preset (base/paranoid.hpp): the LP has changed. `committed_before`: the bound of the
    // last commit.
    void check_change(const LpRecord& lp, const EventKey& committed_before,
                      bool is_cancelling = false);
    LpExpectations expectations(const EventKey& committed_before,
                                bool is_cancelling = false) const noexcept;

    Rank& rank;
    const RunPlan& plan;
    const Partition::Owner self;
    const std::uint32_t stride;  // bytes of a history entry

    std::vector<Group*> groups;
    VirtualTime gvt = 0;  // as this worker knows it
    // GVT with its generation. An event before it is irrevocable, and what the event sent may have been executed
    // and freed: HistoryEntry::sent of such an event must not be followed. Commit goes by time alone, so
    // that histories contain such events.
    EventBound irrevocable_before{0};
    EventBound lead{0};              // bound of the event that was executed last
    EventBound farthest{0};          // maximum of `lead` up to the last expect_earlier_events()
    EventBound safe_before{0};       // events before it are executed irrevocably: safe_horizon.hpp
    EventBound safe_before_most{0};  // maximum of `safe_before` so far
    Clock::time_point now{};         // time of this turn
    StateKeeper keeper;
    EpochCounts epochs;
    Counters counters;
    WorkerFigures figures;
    std::unique_ptr<IntervalSums> intervals;  // of what is final; null: there are none
    TraceTrack trace;

    RunningCall running;
    FaultGuard guard;
    std::string failure;  // of the handler that failed last

    WalkPace walks;
};

}  // namespace nw
