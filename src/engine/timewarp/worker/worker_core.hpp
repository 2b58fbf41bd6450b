// SPDX-License-Identifier: Apache-2.0
// The state that all parts of a worker use: its rank and number, its groups, its pending events,
// the GVT that it has read last, and the running call of the model's code. The parts (outboxes,
// throttle, committer, …) have a reference to this state. Each part also has its own state, which
// no other part changes.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/running_call.hpp"
#include "event/pending_set.hpp"
#include "event/short_events.hpp"
#include "gvt/epoch_counts.hpp"
#include "lp/past_log.hpp"
#include "lp/state_keeping.hpp"
#include "memory/handler/fault_guard.hpp"
#include "plan/partition.hpp"
#include "results/statistics/trace.hpp"
#include "results/statistics/worker_figures.hpp"
#include "util/counters.hpp"
#include "util/meter_marks.hpp"
#include "util/paranoid.hpp"

namespace nw {

class IntervalSums;
class Rank;
struct Group;
struct LpExpectations;
struct RolledBackLp;
struct RunPlan;

// Marks the parts of a worker's turn for --trace, and its phases for the meter.
class TurnMarks : public TraceTurn, public PhaseMarks {
  public:
    using TraceTurn::TraceTurn;
};

struct WorkerCore {
    using Clock = std::chrono::steady_clock;

    WorkerCore(Rank& rank, WorkerId id);
    ~WorkerCore();

    // Returns the LP with this number. Requires: the LP is on this rank. Defined in
    // worker_core_inline.hpp.
    inline LpRecord& lp(std::uint32_t id) const noexcept;
    inline Group& group_of(const LpRecord& lp) const noexcept;
    HistoryEntry& entry_at(LpRecord& lp, History::Ordinal position) const noexcept {
        return lp.history.at(position, stride);
    }

    // The entry of an event that is executed irrevocably. It is in no history.
    HistoryEntry& irrevocable_entry() const noexcept {
        return *reinterpret_cast<HistoryEntry*>(irrevocable_entry_bytes.get());
    }
    bool is_running_irrevocable() const noexcept { return running.entry == &irrevocable_entry(); }

    // The number of events that the worker's LPs have executed and not committed.
    std::uint64_t events_uncommitted() const noexcept;
    // Adds the counts of saved states to the counters. Called once, at the end of the worker's
    // work.
    void count_saved_states() noexcept;

    // Adds the LPs of this worker that were rolled back most.
    void add_most_rolled_back_lps(std::vector<RolledBackLp>& lps) const;

    // Stores `lead` in `farthest`. Normally the worker has executed no irrevocable event beyond
    // `lead`, because it executes irrevocable events in order. There are two exceptions: an
    // interrupted event that becomes pending again, and the events of a group that the worker takes
    // over, may be earlier than `lead`. Must be called in both cases before such an event becomes
    // pending. SafeHorizon::try_stop() uses the maximum of `lead` and `farthest`.
    void expect_earlier_events() noexcept { farthest = std::max(farthest, lead); }

    // Fossil collection: frees the events and entries before `needed`. Defined in
    // worker_core_inline.hpp.
    inline void collect_fossils_before(Group& group, LpRecord& lp,
                                       History::Ordinal needed) noexcept;
    // Drops the LP's committed entries and its saved states, but no measured data. Requires: all
    // events that the LP has executed are final.
    inline void drop_past(Group& group, LpRecord& lp) noexcept;
    // Drops everything that is kept of the LP's past. Requires: all events that the LP has executed
    // are final.
    void forget(Group& group, LpRecord& lp);
    // As forget(), but keeps the data from which the state-saving interval is adapted.
    void drop_history(Group& group, LpRecord& lp);

    // Figures of events by kind of LP and event type. figures_of() requires counts_events().
    // Defined in worker_core_inline.hpp.
    bool counts_events() const noexcept { return !figures.events.empty(); }
    inline EventFigures& figures_of(const LpRecord& lp, EventType type) noexcept;
    inline void count_time(const LpRecord& lp, EventType type, Clock::time_point start,
                           Clock::time_point end);

    // For the paranoid preset (util/paranoid.hpp): checks an LP that has changed.
    // `is_canceling`: Rollbacks::is_canceling().
    void check_change(const LpRecord& lp, bool is_canceling = false);
    LpExpectations expectations(bool is_canceling = false) const noexcept;

    Rank& rank;
    const RunPlan& plan;
    const Partition::Owner self;
    const bool is_alone;  // the worker executes all LPs of the run
    // If true, events that may have to be undone normally get an entry in the log when they are
    // executed. If false, they get an entry in a history, because an end condition and
    // --check-model need data that an entry of the log does not contain.
    const bool uses_log;
    const std::uint32_t stride;  // bytes of a history entry
    const std::unique_ptr<std::byte[]> irrevocable_entry_bytes;

    std::vector<Group*> groups;
    PendingSet pending;
    ShortEvents short_events;  // pending events without a record
    VirtualTime gvt = 0;       // the GVT that this worker has read last
    // Bounds. Nothing before irrevocable_before can be undone. Everything before commit_bound may
    // be committed. Events before safe_before are executed irrevocably.
    //
    // irrevocable_before is GVT with its generation: an event before this bound is irrevocable. The
    // events that such an event has sent may have been executed and freed, so HistoryEntry::sent of
    // such an event must not be followed. A history can contain such an event, because a commit
    // compares times without generations.
    EventBound irrevocable_before{0};
    EventKey commit_bound{};         // events before it are final; only Committer changes it
    EventBound lead{0};              // of the event executed last; end_short_events() updates it
    EventBound farthest{0};          // maximum of `lead` up to the last expect_earlier_events()
    EventBound safe_before{0};       // events before it are executed irrevocably: safe_horizon.hpp
    EventBound safe_before_most{0};  // maximum of `safe_before` so far
    Clock::time_point now{};         // time of this turn
    bool is_expecting = false;       // the network may deliver more in the next turn
    StateKeeper keeper;
    PastLog log;  // of executed events that are not in histories
    EpochCounts epochs;
    Counters counters;
    WorkerFigures figures;
    std::unique_ptr<IntervalSums> intervals;  // of final events; null: no interval measures
    TraceTrack trace;
    TurnMarks marks{trace};
    // Uncommitted events of LPs that came from other workers or from another engine, minus the
    // uncommitted events of LPs that left. This number is needed because one worker may count an
    // event as executed, and another worker may count it as committed.
    std::int64_t uncommitted_taken_over = 0;

    RunningCall running;
    FaultGuard guard;
    std::string failure;  // message of the handler that failed last

    WalkPace walks;
    std::uint32_t walked_at_round = 0;  // the round of the last walk
};

}  // namespace nw
