// A worker: one thread's share of a Time Warp run. It owns groups of LPs, their pending events and
// their pasts, and does everything to them; what comes from and goes to others passes through
// bottom halves and outboxes.
//
// A turn: network, GVT result, mail, a batch of events, outgoing mail, GVT cut, commit. It never
// blocks, so that a test can play many workers and ranks in one thread.
//
//     worker.cpp           the turn: mail, events, the cut
//     worker_sends.cpp     from schedule() to outboxes
//     worker_rollback.cpp  taking back
//     worker_interruption.cpp  handlers that run long out of order
//     worker_commit.cpp    making final
//     worker_handover.cpp  groups that come and go
//     worker_memory.cpp    near --memory-cap
//     worker_saving.cpp    standing still to be saved, and going on
//     worker_validate.cpp  looking for mistakes of our own
//
// Thread: its own; only the constructor runs elsewhere.
#pragma once

#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "base/paranoid.hpp"
#include "checkpoint/saved_group.hpp"
#include "engine/handler_watch.hpp"
#include "event/pending_set.hpp"
#include "gvt/epoch_counts.hpp"
#include "lp/event_sink.hpp"
#include "lp/state_keeping.hpp"
#include "lp/validate.hpp"
#include "numa/handler/fault_guard.hpp"
#include "rank/rank.hpp"
#include "stats/memory_kinds.hpp"
#include "stats/run_history.hpp"
#include "stats/run_result.hpp"
#include "stats/trace.hpp"

namespace nw {

class alignas(64) Worker final : private detail::EventSink, public WatchedThread {
  public:
    Worker(Rank& rank, WorkerId id);
    ~Worker();

    // Makes ready what belongs to the worker's thread. Thread: its own, before anything else there; and
    // leave_thread() after all else.
    void adopt_thread();
    const AddressRange& stack() const noexcept { return stack_; }  // of that thread
    // Builds the worker's groups, with pages on the node of the calling thread. All workers' are there
    // before the first start(). Thread: its own, or one for all (docs/decisions/0016).
    void build_groups();

    // Runs on_start of its LPs. `now` is the clock's, or a test's.
    void start(GvtRounds::Clock::time_point now = GvtRounds::Clock::now());

    // One turn. Returns whether anything was done. `now` is the clock's, or a test's.
    bool turn(GvtRounds::Clock::time_point now = GvtRounds::Clock::now());

    // The run is over for this worker: everything final is committed, nothing is in flight.
    bool finished() const noexcept { return phase_ == Phase::finished; }

    // --- the run is saved (worker_saving.cpp) ---

    // The worker stands still: everything before a GVT (with its generation) is committed, nothing
    // after it has been executed, nothing is in flight. All workers do.
    bool paused() const noexcept { return phase_ == Phase::paused; }
    // The first worker of the first rank asks for a pause from then on.
    void save_at(GvtRounds::Clock::time_point time) noexcept { save_due_ = time; }
    // Requires, like the next two: paused(). Writes the worker's groups.
    // `map`: with the stacks of all workers.
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map);
    void resume() noexcept;
    void end_interrupted() noexcept;
    // Instead of build_groups() and start(): the groups of a saved run.
    void read_groups(const SavedRun& saved);

    // After all workers have stopped because a final event had failed: says so of earlier ones.
    void report_earlier_failures();

    // After all workers have finished: states go back to the last final event, unless the run was
    // interrupted they are told so, and LPs are destroyed. `end_time` is what on_end reads as now().
    void finalize();
    // Rows go straight to the output. Throws ModelError.
    void run_on_end(LpRecord& lp, VirtualTime end_time);
    // Calls the model's destructors. Throws ModelError.
    void destroy_lps();
    LpRecord& lp(std::uint32_t id) const noexcept;

    const Counters& counters() const noexcept { return counters_; }
    const RollbackLengths& rollback_lengths() const noexcept { return rollback_lengths_; }
    // Events and anti-messages to each other rank, added to `sums` by the rank's number.
    void add_sent_to(std::vector<std::uint64_t>& sums) const;
    const TraceTrack& trace() const noexcept { return trace_; }
    const MemoryKinds& memory_kinds() const noexcept { return memory_look_.largest(); }
    void add_digest(Digest& sum) const noexcept;
    // Those of its LPs that were rolled back most.
    void add_rollback_spots(std::vector<RollbackSpot>& spots) const;
    EndReason end_reason() const noexcept { return end_reason_; }
    VirtualTime end_time() const noexcept { return end_time_; }  // up to which the run came
    VirtualTime last_committed_time() const noexcept { return last_committed_time_; }
    const std::vector<Group*>& groups() const noexcept { return groups_; }
    std::int64_t balance() const noexcept { return epochs_.balance(); }

    // Walks everything that the worker has; throws InternalError where something is wrong. Returns
    // about how many things it has looked at. Thread: its own, between two turns.
    std::uint64_t validate() const;

  private:
    enum class Phase : std::uint8_t { running, pausing, paused, draining, finished };

    // --- the turn (worker.cpp) ---
    void run_on_start(Group& group, LpRecord& lp);
    bool drain_mail();
    void receive(const WireEvent& wire, Group& group);
    bool execute_batch();
    void prefetch_upcoming();
    LpRecord& lp_of(const PendingEntry& entry) const noexcept;
    void execute_next(const PendingEntry& entry);
    void execute(Group& group, LpRecord& lp, EventRecord& event);
    void call_handler(LpRecord& lp, EventRecord& event, HistoryEntry& entry);
    void leave_crashed();
    void drop_sends();
    void fail_running(std::string_view what);
    static std::string describe_event(const EventRecord& event);

    void schedule(Context& context, LpId target, VirtualTime delay, EventType type,
                  std::span<const std::byte> payload) override;
    void output(Context& context, std::size_t table, std::span<const OutputValue> row) override;
    static std::uint32_t dropped_sends(const HistoryEntry& entry) noexcept;
    EventRecord& new_event(Group& group, const EventHeader& header, const std::byte* payload);
    // What a handler sent leaves only now that it has returned.
    void release_sends(HistoryEntry& entry) {
        for (EventRecord* sent = entry.sent; sent != nullptr; sent = sent->next_sent)
            pending_.push(sent->entry());
        if (!staged_.empty()) publish_staged();
    }
    void publish_staged();
    void publish(WireEvent wire, const std::byte* payload);
    void close_batch(std::uint32_t rank);
    void flush_outboxes(bool everything);
    void cut();

    // --- taking back (worker_rollback.cpp) ---
    bool meets_anti(Group& group, LpRecord& lp, const EventRecord& event);
    static bool take_anti(Group& group, LpRecord& lp, const EventRecord& event);
    void receive_anti_message(const WireEvent& wire, Group& group, LpRecord& lp);
    void roll_back_before(Group& group, LpRecord& lp, const EventKey& key);
    void roll_back(Group& group, LpRecord& lp, History::Ordinal position);
    void roll_back_to(const EventRecord& event);
    void undo_sends(Group& group, LpRecord& lp, History::Ordinal position);
    void restore_state(Group& group, LpRecord& lp, History::Ordinal position);
    void coast(LpRecord& lp, History::Ordinal from, History::Ordinal to);
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
    void give_back_put_aside(const std::vector<std::uint32_t>& worker_of);

    // --- groups that come and go (worker_handover.cpp) ---
    void note_moves();
    void hand_over();
    void part_senders(const std::vector<std::uint32_t>& worker_of);
    void take_over();
    static std::uint32_t not_ended(const Group& group) noexcept;

    // --- the run is saved (worker_saving.cpp) ---
    Group& build_group(std::uint32_t g);
    void begin_pause(const GvtResult& result);
    void begin_final_commit();
    void learn_while_pausing(const GvtResult& result);
    std::vector<std::vector<EventRecord*>> settle_pending();

    // --- near --memory-cap (worker_memory.cpp) ---
    void plan_quota(std::uint32_t others);
    std::uint64_t events_uncommitted() const noexcept;
    std::uint64_t free_heap_bytes() noexcept;
    void spend_quota(std::uint32_t events) noexcept;
    void stay_at_gvt() noexcept;
    void apply_memory_pressure(MemoryBudget::Level level);
    void forget_some();
    void forget(Group& group, LpRecord& lp);
    void release_some(bool full);

    // --- making final (worker_commit.cpp) ---
    void on_gvt();
    void take_sample(const GvtResult& result);
    void learn_all_can_end(const GvtResult& result);
    void end_at(EndReason reason, const EventKey& bound);
    void begin_commit(const EventKey& bound);
    bool commit_some();
    void commit_batch();
    void prefetch_commits() noexcept;
    void commit(Group& group, LpRecord& lp);
    void collect_fossils_before(Group& group, LpRecord& lp, History::Ordinal needed) noexcept;
    bool commit_entry(Group& group, LpRecord& lp, HistoryEntry& entry);
    bool call_on_commit(Group& group, LpRecord& lp, HistoryEntry& entry);
    void report_failure(const EventRecord& event, const HistoryEntry& entry);
    void fail_in_commit(const std::string& what);
    void scan_for_end(const EventKey& bound);
    void take_rows(const HistoryEntry& entry, const EventKey& key);
    void trim_mail();

    // --- in the paranoid preset (worker_validate.cpp; base/paranoid.hpp) ---
    void check_change(const LpRecord& lp);
    void check_turn();
    LpFacts facts() const noexcept;
    void validate_between_turns() const;
    void validate_lists() const;
    void validate_uncommitted() const;
    std::uint64_t validate_groups() const;
    std::uint64_t validate_group(const Group& group) const;
    void validate_pending() const;
    void validate_outboxes() const;

    Group& group_of(const LpRecord& lp) const noexcept {
        return *rank_.group(plan_.partition.place(lp.id).group);
    }
    HistoryEntry& entry_at(LpRecord& lp, History::Ordinal position) const noexcept {
        return lp.history.at(position, stride_);
    }
    void note_uncommitted(LpRecord& lp) {
        if (lp.has_uncommitted) return;
        lp.has_uncommitted = true;
        uncommitted_.push_back(&lp);
    }
    SideEffect& new_side_effect(Group& group, HistoryEntry& entry, SideEffect::Kind kind,
                                std::size_t bytes);
    void new_anti_message(Group& group, HistoryEntry& entry, const EventHeader& event);
    void free_side_effects(Group& group, HistoryEntry& entry) noexcept;

    Rank& rank_;
    const RunPlan& plan_;
    Partition::Owner self_;
    std::uint32_t stride_;  // bytes of a history entry

    PendingSet pending_;
    VirtualTime horizon_ = 0;             // events before it may be executed now
    VirtualTime gvt_ = 0;                 // as this worker knows it
    std::uint32_t generations_ = 1;       // the last that may run beyond GVT
    std::uint32_t generation_limit_ = 1;  // at GVT itself
    Phase phase_ = Phase::running;
    StateKeeper keeper_;
    EpochCounts epochs_;
    Counters counters_;
    RollbackLengths rollback_lengths_;
    TraceTrack trace_;
    TraceTurn trace_turn_{trace_};
    MemoryLook memory_look_;
    AddressRange stack_;
    FaultGuard guard_;
    FaultGuard undo_guard_;  // of handlers called while taking back, perhaps amid guard_'s batch
    Snapshot* tried_image_ = nullptr;  // of check_rollback(), also when the tried handler crashes
    std::string failure_;              // of the handler that failed last

    // What is being executed; null outside handlers. Members and not locals: a fault in a handler
    // jumps over the stack.
    struct Running {
        Group* group = nullptr;
        LpRecord* lp = nullptr;
        EventRecord* event = nullptr;
        HistoryEntry* entry = nullptr;
        std::uint32_t generation = 0;
        bool silent = false;    // coasting: nothing is sent or written
        const char* hook = "";  // which of the model's functions, where it is not on_event
    };
    Running running_;
    MailBuffer staged_;  // what the running handler sends to other workers

    struct RankOutbox {
        MailBuffer mail;
        GvtRounds::Clock::time_point opened;  // when the first event went in
        std::uint64_t events_sent = 0;        // so far
    };
    std::vector<MailBuffer> worker_outboxes_;  // by worker of this rank
    std::vector<RankOutbox> rank_outboxes_;    // by rank; grows to the highest spoken to
    std::uint32_t messages_since_gvt_ = 0;     // to other ranks
    GvtRounds::Clock::time_point now_{};       // of this turn
    GvtRounds::Clock::time_point trim_due_{};  // when the next walk of trim_mail() begins
    std::size_t trimmed_ = 0;                  // groups that the walk under way has done

    std::vector<EventRecord*> put_aside_;  // in histories, as failed; see worker_interruption.cpp
    bool may_interrupt_;                   // others may wait, and states come back whole
    bool draws_interruptions_;             // --check-interrupt
    bool draws_rollbacks_;                 // --check-rollback
    std::vector<EventRecord*> to_cancel_;  // processed events whose LPs must be rolled back
    std::vector<Group*> groups_;
    std::vector<LpRecord*> uncommitted_;  // LPs with entries that are not final
    std::vector<LpRecord*> committing_;   // the same, of the commit under way
    EventKey commit_bound_{};             // entries before it are final
    std::vector<OutputWriter::Row> rows_;

    // Memory.
    static constexpr std::uint32_t unlimited = UINT32_MAX;
    std::uint32_t events_ahead_ = unlimited;      // may still be executed before the next GVT
    std::uint32_t events_ahead_max_ = unlimited;  // uncommitted, by this worker's own memory
    std::int64_t uncommitted_taken_over_ =
        0;                              // events: with groups that came, less those that left
    bool memory_low_ = false;           // LPs keep nothing of what is final
    std::size_t forgotten_groups_ = 0;  // in groups_: before it all was forgotten
    std::size_t forgotten_lps_ = 0;     // of the next group
    std::size_t released_groups_ = 0;   // in groups_: the last that was looked at
    GvtRounds::Clock::time_point next_release_{};
    GvtRounds::Clock::time_point heaps_counted_at_{};
    std::uint64_t free_heap_bytes_ = 0;

    // Rebinding. The next cut waits until what leaves has left and what comes has come.
    std::vector<GroupMove> leaving_;
    std::int64_t awaited_ = 0;       // below 0: come before this worker learnt the plan
    std::uint32_t until_timed_ = 0;  // events until one is timed for its group's load

    // Paranoid.
    WalkPace walks_;
    std::uint32_t walked_at_round_ = 0;

    // Ending.
    VirtualTime previous_gvt_ = 0;
    std::uint64_t lps_not_ended_ = 0;
    EventKey end_key_{-1.0, 0, 0, 0};
    std::uint64_t dropped_beyond_end_ = 0;
    VirtualTime lead_ = 0;
    EndReason end_reason_ = EndReason::until;
    VirtualTime end_time_ = 0;
    VirtualTime last_committed_time_ = 0;
    std::uint32_t draining_since_ = first_round;  // rounds done when the end, or a pause, was seen
    bool nothing_in_flight_ = false;
    std::uint64_t rolled_back_by_pauses_ = 0;
    GvtRounds::Clock::time_point save_due_ = GvtRounds::Clock::time_point::max();
    EventKey save_key_{};      // of a pause: what is before it is final
    bool commit_done_ = true;  // nothing of the commit under way is left
};

// A rank's, by number.
using Workers = std::vector<std::unique_ptr<Worker>>;

}  // namespace nw
