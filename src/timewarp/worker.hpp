// A worker: one thread's share of a Time Warp run. It owns groups of LPs, their pending events and
// their pasts, and does everything to them; what comes from and goes to others passes through
// bottom halves and outboxes.
//
// Here it receives events, executes them and rolls them back. The rest of what there is to do belongs to
// its parts in src/worker/: Outboxes, Throttle, Committer, Ending, Standstill, Handovers,
// MemoryRelief. What they all need is WorkerCore.
//
//     worker.cpp               the turn: GVT, mail, events, the cut
//     worker_lps.cpp           before the first turn and after the last: LPs are built, started, ended
//     worker_sends.cpp         from schedule() to the outboxes
//     worker_rollback.cpp      taking back
//     worker_interruption.cpp  handlers that run long out of order
//     worker_saving.cpp        standing still, to be saved or otherwise, and going on
//     worker_moving.cpp        groups that leave for other ranks, and come from there
//     worker_validate.cpp      looking for mistakes of our own
//
// Thread: its own; only the constructor runs elsewhere.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/saved_worker.hpp"
#include "engine/watched_thread.hpp"
#include "event/mail_buffer.hpp"
#include "event/pending_set.hpp"
#include "lp/event_sink.hpp"
#include "numa/os/os.hpp"
#include "worker/committer.hpp"
#include "worker/ending.hpp"
#include "worker/outboxes.hpp"
#include "worker/safe_horizon.hpp"
#include "worker/standstill.hpp"
#include "worker/throttle.hpp"
#include "worker/worker_core.hpp"

namespace nw {

class IntervalSums;
class MeasureSums;
class BottomHalf;
class Handovers;
class LookAhead;
class Relocation;
class ShortEvents;
class MemoryBudget;
class MemoryLook;
class MemoryRelief;
class PendingChains;
struct LoadedModule;
struct MemoryKinds;
struct RolledBackLp;
struct SavedRun;
struct StrayPointers;

class alignas(64) Worker final : private detail::EventSink,
                                 public WatchedThread,
                                 public SavedWorker {
  public:
    using Clock = WorkerCore::Clock;

    Worker(Rank& rank, WorkerId id);
    ~Worker();

    // --- before the first turn (worker_lps.cpp) ---

    // Makes ready what belongs to the worker's thread. Thread: its own, before anything else there; and
    // leave_thread() after all else.
    void adopt_thread();
    AddressRange stack() const noexcept override;
    // Builds the worker's groups, with pages on the node of the calling thread. All workers' are there
    // before the first start(). Thread: its own, or one for all (docs/decisions/0016).
    void build_groups();
    // Instead of build_groups() and start(): the groups of a saved run.
    void read_groups(const SavedRun& saved);
    // Runs on_start of its LPs. `now` is the clock's, or a test's. Throws ModelError; failed_lp() is then the LP.
    void start(Clock::time_point now = Clock::now());

    std::uint32_t failed_lp() const noexcept { return core_.running.lp->id; }

    // --- the run ---

    // One turn. It never blocks, so that a test can play many workers and ranks in one thread. Returns
    // whether anything was done. `now` is the clock's, or a test's.
    bool turn(Clock::time_point now = Clock::now());

    // Until others have something for it. Requires: may_sleep().
    void sleep();
    bool may_sleep() const noexcept;

    // The run is over for this worker: everything final is committed, nothing is in flight.
    bool finished() const noexcept { return standstill_.phase() == Standstill::Phase::finished; }

    // --- a pause (worker_saving.cpp) ---

    // The worker stands still: everything before a GVT (with its generation) is committed, nothing
    // after it has been executed, nothing is in flight. All workers do.
    bool paused() const noexcept { return standstill_.phase() == Standstill::Phase::paused; }
    Standstill::Purpose pause_purpose() const noexcept { return standstill_.purpose(); }
    // The first worker of the first rank asks for a pause: from then on, or now.
    void save_at(Clock::time_point time) noexcept override { standstill_.save_at(time); }
    void move_soon() noexcept { standstill_.move_soon(); }
    // Requires, like all to end_interrupted(): paused(). Writes the worker's groups. `map`: with the stacks of all
    // workers.
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) override;
    // Groups leave, each as bytes; one for which `may_leave` is false stays, and has none. Their memory is
    // here until Rank::drop_group().
    std::vector<std::optional<std::string>> give_groups(
        const std::vector<std::uint32_t>& leaving, const std::vector<LoadedModule>& modules,
        const AddressMap& map, const std::function<bool(const StrayPointers&)>& may_leave);
    // A group that has left another rank. Throws what building its LPs throws.
    void take_group(std::uint32_t group, std::string_view bytes);
    void resume() noexcept override;
    void end_interrupted() noexcept override;

    // --- after the last turn (worker_lps.cpp) ---

    // After all workers have finished: states go back to the last final event.
    void finalize();
    // Unless the run was interrupted. `end_time` is what on_end reads as now(). Rows go straight to the
    // output. Throws ModelError.
    void run_on_end(LpRecord& lp, VirtualTime end_time, MeasureSums& measures);
    // Calls the model's destructors. Throws ModelError.
    void destroy_lps(const std::atomic<int>& stop_signal);

    // --- what is known of it ---

    LpRecord& lp(std::uint32_t id) const noexcept;
    const std::vector<Group*>& groups() const noexcept { return core_.groups; }
    const Counters& counters() const noexcept { return core_.counters; }
    const WorkerFigures& figures() const noexcept { return core_.figures; }
    // Null: there are none.
    const IntervalSums* intervals() const noexcept { return core_.intervals.get(); }
    double asleep_seconds() const noexcept { return asleep_seconds_; }
    Clock::time_point pause_began() const noexcept { return standstill_.pause_began(); }
    // Events and anti-messages to each other rank, added to `sums` by the rank's number.
    void add_sent_to(std::vector<std::uint64_t>& sums) const { outboxes_.add_sent_to(sums); }
    TraceTrack& trace() noexcept { return core_.trace; }
    const MemoryKinds& memory_kinds() const noexcept;
    // Those of its LPs that were rolled back most.
    void add_most_rolled_back_lps(std::vector<RolledBackLp>& lps) const;
    EndReason end_reason() const noexcept { return ending_.reason(); }
    VirtualTime end_time() const noexcept { return ending_.time(); }
    bool splits_time() const noexcept { return ending_.splits_time(); }
    VirtualTime last_committed_time() const noexcept { return committer_.last_committed_time(); }
    std::int64_t balance() const noexcept { return core_.epochs.balance(); }

    // Walks everything that the worker has; throws InternalError where something is wrong. Returns
    // about how many things it has looked at. Thread: its own, between two turns.
    std::uint64_t validate() const;

  private:
    // --- the turn (worker.cpp) ---
    void on_gvt();
    void advance(const GvtResult& result);
    void end_failed(const EventKey& failed_at);
    void report_progress(const GvtResult& result);
    void plan_quota(const GvtResult& result);
    std::uint64_t events_uncommitted() const noexcept;
    bool drain_mail();
    // Takes over first the groups that other workers have handed to this worker.
    bool owns(std::uint32_t g);
    // The event came through a ring. Passes it on if its group now belongs to another worker.
    void receive_or_pass_on(const WireEvent& wire);
    Group* group_of(BottomHalf& mail);
    void receive(const WireEvent& wire, Group& group);
    bool execute_batch();
    bool is_irrevocable(const LpRecord& lp, const PendingEntry& entry) const noexcept;
    void execute_short(Group& group, LpRecord& lp, EventRecord& event, std::size_t guess,
                       Context& context);
    void execute_next(Group& group, LpRecord& lp, const PendingEntry& entry);
    void run_event(Group& group, LpRecord& lp, EventRecord& event);
    bool has_no_past(Group& group, LpRecord& lp);
    void execute(Group& group, LpRecord& lp, EventRecord& event);
    EventRecord& on_record(Group& group, EventRecord& event);
    void release_short(LpRecord& lp);
    void release_short_by_call(LpRecord& lp);
    void execute_for_good(Group& group, LpRecord& lp, EventRecord& event);
    void begin_execution(LpRecord& lp, EventRecord& event, HistoryEntry& entry);
    bool is_running_for_good() const noexcept { return core_.running.entry == &safe_entry(); }
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
    void look_at_memory() noexcept;
    Group& build_group(std::uint32_t g, MemoryBudget* budget);
    void go_on_with(Group& group, const std::vector<EventRecord*>& pending, VirtualTime now);
    void run_on_start(Group& group, LpRecord& lp);

    // --- from schedule() to the outboxes (worker_sends.cpp) ---
    void schedule(Context& context, LpId target, detail::ScheduledTime when, EventType type,
                  std::span<const std::byte> payload) override;
    void output(Context& context, std::size_t table, std::span<const OutputValue> row) override;
    void look_at_intervals(Group& group, const LpRecord& lp, VirtualTime now);
    void publish_staged();
    void publish(const WireEvent& wire, const std::byte* payload);

    // --- taking back (worker_rollback.cpp) ---
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

    // --- handlers that run long out of order (worker_interruption.cpp) ---
    RunningHandler running_handler() const noexcept override;
    bool is_chosen_for_interruption(const EventRecord& event) const noexcept;
    void put_aside_running();
    void forget_put_aside(EventRecord& event) noexcept;
    EventBound first_put_aside() const noexcept;
    template <class Condition>
    void take_back_put_aside(Condition&& is_meant);
    void run_what_is_certain(const Contribution& sums);
    void give_back_put_aside(const std::vector<std::uint32_t>& new_workers);

    // --- a pause (worker_saving.cpp) ---
    void begin_pause(const GvtResult& result);
    void pause_on_gvt(const GvtResult& result);
    PendingChains settle_pending();
    void drop_cancelled();
    void look_at_all_intervals();
    void forget_past(Group& group);

    // --- in the paranoid preset (worker_validate.cpp; base/paranoid.hpp) ---
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
    std::size_t guess_;                    // for the event that is being executed
    MailBuffer staged_;                    // what the running handler sends to other workers
    std::vector<EventRecord*> to_cancel_;  // processed events whose LPs must be rolled back
    std::vector<EventRecord*> put_aside_;  // in histories, as failed; see worker_interruption.cpp
    bool may_interrupt_;                   // others may wait, and states come back whole
    bool draws_interruptions_;             // --check-interrupt
    bool draws_rollbacks_;                 // --check-rollback
    const bool is_alone_;                  // it executes all LPs of the run
    const bool is_plain_;                  // execute_short() does all that the run needs
    std::unique_ptr<std::byte[]> safe_entry_bytes_;  // of what runs for good; in no history
    std::uint32_t until_timed_;  // events until one is timed for its group's load
    std::uint64_t suggests_round_at_ = UINT64_MAX;  // executed events
    // Of restore_state().
    struct Coasting {
        History::Ordinal to;  // not executed again
        History::Ordinal at = 0;
        std::uint32_t sequence = 0;  // of the LP, before the event at `at`
    };
    Coasting coasting_{};
    FaultGuard
        undo_guard_;  // of handlers called while taking back, perhaps amid the core guard's batch
    Snapshot* tried_image_ = nullptr;  // of check_rollback(), also when the tried handler crashes
    std::uint64_t rolled_back_by_pauses_ = 0;  // events
    bool is_expecting_ = false;                // the network may have more for the next turn
    double asleep_seconds_ = 0;
    TraceTurn trace_turn_{core_.trace};
    std::unique_ptr<MemoryLook> memory_look_;
    std::uint32_t walked_at_round_ = 0;  // paranoid
};

// A rank's, by number.
using Workers = std::vector<std::unique_ptr<Worker>>;

}  // namespace nw
