// SPDX-License-Identifier: Apache-2.0
// A worker: the share of a Time Warp run that one thread executes. It owns groups of LPs with their
// pending events and histories, and only it changes them. Events from and for other workers pass
// through mail rings, bottom halves and outboxes.
//
// Worker receives events, executes them and rolls them back. Other tasks belong to its parts in
// src/engine/timewarp/parts/: Outboxes, Throttle, SafeHorizon, Committer, Ending, Standstill,
// Handovers, Relocation, MemoryRelief. WorkerCore is the state that all parts use.
//
//     worker.cpp               one turn: GVT, mail, events, the cut
//     worker_execution.cpp     reading mail, and executing events
//     worker_lps.cpp           building, starting and ending LPs, outside of the turns
//     worker_sends.cpp         from schedule() to the outboxes
//     worker_rollback.cpp      rollback
//     worker_interruption.cpp  interruption of handlers that run long
//     worker_saving.cpp        pauses, and saving the run
//     worker_moving.cpp        groups that leave for other ranks, or arrive from there
//     worker_validate.cpp      checks of the invariants
//
// Thread: the worker's own, if not stated otherwise. The constructor and, after the last turn,
// on_end(), destructors and results run in the main thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/event_sink.hpp"
#include "engine/saved_worker.hpp"
#include "engine/timewarp/parts/committer.hpp"
#include "engine/timewarp/parts/ending.hpp"
#include "engine/timewarp/parts/outboxes.hpp"
#include "engine/timewarp/parts/safe_horizon.hpp"
#include "engine/timewarp/parts/standstill.hpp"
#include "engine/timewarp/parts/throttle.hpp"
#include "engine/timewarp/parts/worker_core.hpp"
#include "engine/watched_thread.hpp"
#include "event/mail_buffer.hpp"
#include "event/pending_set.hpp"
#include "numa/os/os.hpp"
#include "util/meter_marks.hpp"

namespace nw {

class IntervalSums;
class MeasureSums;
class BottomHalf;
class Handovers;
class LookAhead;
class Relocation;
class ShortEvents;
class MemoryBudget;
class MemorySampler;
class MemoryRelief;
class PendingChains;
struct LoadedModule;
struct MemoryKinds;
struct PausedRun;
struct RolledBackLp;
struct SavedRun;
struct StrayPointers;

// Marks the parts of a worker's turn for --trace, and its phases for the meter.
class TurnMarks : public TraceTurn, public PhaseMarks {
  public:
    using TraceTurn::TraceTurn;
};

class alignas(64) Worker final : private detail::EventSink,
                                 public WatchedThread,
                                 public SavedWorker {
  public:
    using Clock = WorkerCore::Clock;

    Worker(Rank& rank, WorkerId id);
    ~Worker();

    // --- before the first turn (worker_lps.cpp) ---

    // Prepares the calling thread to run the worker. Thread: the worker's own, before all other
    // calls there; leave_thread() is its last call.
    void adopt_thread();
    AddressRange stack() const noexcept override;
    // Builds the worker's groups, with pages on the node of the calling thread. The groups of all
    // workers are built before the first start(). Thread: the worker's own, or one for all workers
    // (docs/decisions/0016).
    void build_groups();
    // Called instead of build_groups() and start(): reads the groups of a saved run.
    void read_groups(const SavedRun& saved);
    // Called instead of build_groups() and start(): continues the run of another engine.
    void continue_from(PausedRun& paused);
    // Runs on_start of the worker's LPs. `now` is the clock's time, or a test's. Throws ModelError;
    // failed_lp() then returns the LP.
    void start(Clock::time_point now = Clock::now());

    std::uint32_t failed_lp() const noexcept { return core_.running.lp->id; }

    // --- the run ---

    // Executes one turn, and returns whether there was anything to do. Never blocks, so that a test
    // can run many workers and ranks in one thread. `now` is the clock's time, or a test's.
    bool turn(Clock::time_point now = Clock::now());

    // Blocks until another thread has mail or a result for the worker. Requires: may_sleep().
    void sleep();
    bool may_sleep() const noexcept;

    // The run is over for this worker: all final events are committed, and no message is in flight
    // or, after a failure, awaited.
    bool finished() const noexcept { return standstill_.phase() == Standstill::Phase::finished; }

    // --- a pause (worker_saving.cpp) ---

    // The worker has stopped, like all others: everything before a GVT (with its generation) is
    // committed, nothing after it has been executed, and nothing is in flight.
    bool paused() const noexcept { return standstill_.phase() == Standstill::Phase::paused; }
    Standstill::Purpose pause_purpose() const noexcept { return standstill_.purpose(); }
    // Ask for a pause from `time` on, or now. Thread: the first worker of the first rank.
    void save_at(Clock::time_point time) noexcept override { standstill_.save_at(time); }
    void move_soon() noexcept { standstill_.move_soon(); }
    // Writes the worker's groups. `map` includes the stacks of all workers. This function and the
    // next ones up to end_interrupted() require paused().
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) override;
    // Returns each leaving group as bytes, or nothing if it stays because `may_leave` is false for
    // it. The memory of the groups is kept until Rank::drop_group().
    std::vector<std::optional<std::string>> give_groups(
        const std::vector<std::uint32_t>& leaving, const std::vector<LoadedModule>& modules,
        const AddressMap& map, const std::function<bool(const StrayPointers&)>& may_leave);
    // Builds a group that has left another rank. Throws what building its LPs throws.
    void take_group(std::uint32_t group, std::string_view bytes);
    // Gives the groups and their progress to another engine. The worker executes nothing any more.
    void leave_to(PausedRun& paused);
    void resume() noexcept override;
    void end_interrupted() noexcept override;

    // --- after the last turn (worker_lps.cpp) ---

    // Called after all workers have finished. Restores each LP's state after its last final event.
    void finalize();
    // Not called if the run was interrupted. on_end reads `end_time` as now(). Rows are written to
    // the output at once. Throws ModelError.
    void run_on_end(LpRecord& lp, VirtualTime end_time, MeasureSums& measures);
    // Calls the model's destructors. Throws ModelError.
    void destroy_lps(const std::atomic<int>& stop_signal);

    // --- figures and results ---

    LpRecord& lp(std::uint32_t id) const noexcept;
    const std::vector<Group*>& groups() const noexcept { return core_.groups; }
    const Counters& counters() const noexcept { return core_.counters; }
    const WorkerFigures& figures() const noexcept { return core_.figures; }
    // Null if there are no interval measures.
    const IntervalSums* intervals() const noexcept { return core_.intervals.get(); }
    double asleep_seconds() const noexcept { return asleep_seconds_; }
    Clock::time_point pause_began() const noexcept { return standstill_.pause_began(); }
    // Adds to `sums`, by rank, the number of events and anti-messages sent to each other rank.
    void add_sent_to(std::vector<std::uint64_t>& sums) const { outboxes_.add_sent_to(sums); }
    TraceTrack& trace() noexcept { return core_.trace; }
    const MemoryKinds& memory_kinds() const noexcept;
    // Adds the LPs of this worker that were rolled back most.
    void add_most_rolled_back_lps(std::vector<RolledBackLp>& lps) const;
    EndReason end_reason() const noexcept { return ending_.reason(); }
    VirtualTime end_time() const noexcept { return ending_.time(); }
    bool splits_time() const noexcept { return ending_.splits_time(); }
    VirtualTime last_committed_time() const noexcept { return committer_.last_committed_time(); }
    VirtualTime paused_at() const noexcept { return standstill_.bound().time; }
    std::int64_t balance() const noexcept { return core_.epochs.balance(); }

    // Checks all invariants of the worker; throws InternalError if one is violated. Returns the
    // approximate number of objects that it has checked. Thread: the worker's own, between two
    // turns.
    std::uint64_t validate() const;

  private:
    // --- the turn (worker.cpp) ---
    void on_gvt();
    void advance(const GvtResult& result);
    void end_failed(const EventKey& failed_at);
    void report_progress(const GvtResult& result);
    void ask_for_pause(const GvtResult& result);
    void plan_quota(const GvtResult& result);
    std::uint64_t events_uncommitted() const noexcept;
    bool drain_mail();
    // Whether this worker owns the group. If not, first takes over the groups that other workers
    // have handed to it.
    bool owns(std::uint32_t g);
    // Receives an event from a mail ring. Passes it on if its group now belongs to another worker.
    void receive_or_pass_on(const WireEvent& wire);
    Group* group_of(BottomHalf& mail);
    void receive(const WireEvent& wire, Group& group);
    bool execute_batch();
    EventBound short_horizon() const noexcept;
    void begin_short_events() noexcept;
    void end_short_events(bool is_failed) noexcept;
    bool is_short_without_past(const LpRecord& lp, const PendingEntry& entry) const noexcept;
    void execute_short(Group& group, LpRecord& lp, EventRecord& event, std::size_t guess,
                       Context& context);
    void execute_next(Group& group, LpRecord& lp, const PendingEntry& entry);
    void run_event(Group& group, LpRecord& lp, EventRecord& event);
    bool has_no_past(Group& group, LpRecord& lp);
    void execute(Group& group, LpRecord& lp, EventRecord& event);
    EventRecord& on_record(Group& group, EventRecord& event);
    void release_short(LpRecord& lp);
    void release_short_by_call(LpRecord& lp);
    void execute_irrevocable(Group& group, LpRecord& lp, EventRecord& event);
    void begin_execution(LpRecord& lp, EventRecord& event, HistoryEntry& entry);
    bool is_running_irrevocable() const noexcept { return core_.running.entry == &safe_entry(); }
    HistoryEntry& safe_entry() const noexcept {
        return *reinterpret_cast<HistoryEntry*>(safe_entry_bytes_.get());
    }
    void call_on_commit();
    void keep_running();
    void call_handler(LpRecord& lp, EventRecord& event, HistoryEntry& entry);
    void leave_crashed();
    void drop_sends();
    void fail_running(std::string what);
    void cut();
    void note_idle();
    bool commit();
    void relieve_memory();
    void hand_over();

    // --- building, starting, ending LPs (worker_lps.cpp) ---
    void sample_memory() noexcept;
    void count_saved_states(Counters& counters) const noexcept;
    Group& build_group(std::uint32_t g, MemoryBudget* budget);
    Group& settle_in(Group& group);
    void go_on_with_copy(Group& group, const std::vector<EventRecord*>& pending, VirtualTime now);
    void go_on_with(Group& group);
    void run_on_start(Group& group, LpRecord& lp);

    // --- from schedule() to the outboxes (worker_sends.cpp) ---
    void schedule(Context& context, LpId target, detail::ScheduledTime when, EventType type,
                  std::span<const std::byte> payload) override;
    void output(Context& context, std::size_t table, std::span<const OutputValue> row) override;
    void look_at_intervals(Group& group, const LpRecord& lp, VirtualTime now);
    void publish_staged();
    void publish(const WireEvent& wire, const std::byte* payload);

    // --- rollback (worker_rollback.cpp) ---
    bool meets_anti(Group& group, LpRecord& lp, const EventRecord& event);
    static bool take_anti(Group& group, LpRecord& lp, const EventRecord& event);
    void receive_anti_message(const WireEvent& wire, Group& group, LpRecord& lp);
    void roll_back_before(Group& group, LpRecord& lp, const EventKey& key);
    History::Ordinal roll_back(Group& group, LpRecord& lp, History::Ordinal wanted);
    void roll_back_to(const EventRecord& event);
    void take_back_looks(Group& group, const LpRecord& lp, const HistoryEntry& entry) noexcept;
    void undo_sends(Group& group, LpRecord& lp, History::Ordinal from, History::Ordinal to);
    History::Ordinal restore_state(Group& group, LpRecord& lp, History::Ordinal position);
    void take_back_entries(Group& group, LpRecord& lp, History::Ordinal position);
    bool coast(LpRecord& lp, History::Ordinal from);
    bool is_coasting_ahead() const noexcept;
    void undo_coasted(std::string_view what);
    [[noreturn]] void fail_undoing(std::string_view what);
    void cancel_here(EventRecord& event);
    void cancel_processed();
    bool is_chosen_for_check(const EventRecord& event) const noexcept;
    std::string difference_after_rollback(const LpRecord& lp, const Snapshot& before,
                                          std::uint64_t random_counter,
                                          std::uint32_t sequence) const;
    void check_rollback(Group& group, LpRecord& lp, EventRecord& event);
    void drop_tried_image(Group& group) noexcept;

    // --- interruption of handlers that run long (worker_interruption.cpp) ---
    RunningHandler running_handler() const noexcept override;
    bool is_chosen_for_interruption(const EventRecord& event) const noexcept;
    void defer_running();
    void forget_deferred(EventRecord& event) noexcept;
    EventBound first_deferred() const noexcept;
    template <class Condition>
    void take_back_deferred(Condition&& is_meant);
    void run_irrevocable_deferred(const Contribution& sums);
    void give_back_deferred(const std::vector<std::uint32_t>& new_workers);

    // --- a pause (worker_saving.cpp) ---
    void begin_pause(const GvtResult& result);
    void pause_on_gvt(const GvtResult& result);
    using KeepPending = std::function<void(std::uint32_t group, const PendingEntry& entry)>;
    void settle_pending(bool except_bare, const KeepPending& keep);
    PendingChains chain_pending();
    void drop_cancelled();
    void look_at_all_intervals();
    void forget_past(Group& group);

    // --- in the paranoid preset (worker_validate.cpp; util/paranoid.hpp) ---
    void check_change(const LpRecord& lp) {
        core_.check_change(lp, committer_.bound(), !to_cancel_.empty());
    }
    void check_turn();
    void validate_between_turns() const;
    void validate_lists() const;
    void validate_uncommitted() const;
    std::uint64_t validate_groups() const;
    std::uint64_t validate_group(const Group& group) const;
    void validate_pending() const;

    WorkerCore core_;
    PendingSet pending_;
    Outboxes outboxes_{core_};
    Throttle throttle_{core_};
    SafeHorizon safe_horizon_{core_};
    std::unique_ptr<MemoryRelief> memory_relief_;
    Committer committer_{core_};
    Ending ending_{core_};
    Standstill standstill_{core_};
    const std::unique_ptr<ShortEvents> short_;
    std::unique_ptr<Handovers> handovers_;
    std::unique_ptr<Relocation> relocation_;

    const std::unique_ptr<LookAhead> ahead_;
    std::uint32_t short_executed_ = 0;     // by execute_short(), not yet in the counters
    std::size_t guess_;                    // of LookAhead, for the event that is being executed
    MailBuffer staged_;                    // what the running handler has sent to other workers
    std::vector<EventRecord*> to_cancel_;  // executed events whose LPs must be rolled back
    std::vector<EventRecord*> deferred_;   // in histories, as failed events
    bool may_interrupt_;                   // not alone, and no LP uses reverse computation
    bool draws_interruptions_;             // --check-interrupt
    bool draws_rollbacks_;                 // --check-rollback
    const bool is_alone_;                  // it executes all LPs of the run
    const bool is_plain_;                  // execute_short() is sufficient for the run
    std::unique_ptr<std::byte[]> safe_entry_bytes_;  // of an irrevocable event; in no history
    std::uint32_t until_timed_;  // events until the next one is timed for its group's load
    std::uint64_t suggests_round_at_ = UINT64_MAX;  // number of executed events
    // State of restore_state().
    struct Coasting {
        History::Ordinal to;  // the first entry that is not executed again
        History::Ordinal at = 0;
        std::uint32_t sequence = 0;  // of the LP, before the event at `at`
    };
    Coasting coasting_{};
    FaultGuard undo_guard_;            // of handlers called during a rollback
    Snapshot* tried_image_ = nullptr;  // of check_rollback(); freed also if the handler crashes
    std::uint64_t rolled_back_by_pauses_ = 0;  // events
    // Events of earlier engines of the run that this worker executed and other workers committed,
    // minus those that it committed for other workers.
    std::int64_t committed_elsewhere_ = 0;
    bool is_expecting_ = false;  // the network may deliver more in the next turn
    double asleep_seconds_ = 0;
    TurnMarks marks_{core_.trace};
    std::unique_ptr<MemorySampler> memory_sampler_;
    std::uint32_t walked_at_round_ = 0;  // at the last validate() of the paranoid preset
};

// The workers of a rank, by number.
using Workers = std::vector<std::unique_ptr<Worker>>;

}  // namespace nw
