// SPDX-License-Identifier: Apache-2.0
// Executes the pending events of a worker, in batches. Each event is executed either irrevocably,
// or so that it can be undone.
//
// If a handler throws an exception, crashes or is interrupted, only its event ends, and the batch
// continues. After a crash or an interruption, the execution always continues in leave_crashed().
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <string>

#include <numawarp/context.hpp>

#include "engine/timewarp/worker/logged_execution.hpp"
#include "engine/timewarp/worker/rollback_check.hpp"
#include "engine/timewarp/worker/worker_core.hpp"
#include "engine/watched_thread.hpp"
#include "event/event_prefetcher.hpp"
#include "event/pending_entry.hpp"

namespace nw {

class Committer;
class Ending;
class Rollbacks;
class Throttle;

class Executor final : public WatchedThread {
  public:
    Executor(WorkerCore& core, Throttle& throttle, Committer& committer, Ending& ending,
             Sends& sends, Rollbacks& rollbacks);

    // Prepares the calling thread to run handlers. Thread: the worker's own thread. It calls
    // adopt_thread() before every other function. leave_thread() is the last call.
    void adopt_thread();
    // Moves the executor to the calling thread. Requires: the calling thread has called
    // adopt_thread() of some executor before, and the previous thread of this executor has called
    // leave_thread().
    void join_thread() noexcept;

    // Executes a batch of events. Returns whether there was an event that could be executed. A
    // straggler is detected when it is the smallest pending event, not when it arrives. Therefore
    // several stragglers that arrive together cost one rollback.
    bool execute_batch();

    // Must be called before LPs leave the worker and before a pause.
    void forget_ahead() noexcept { ahead_.forget(); }

    // Called at a cut. The worker will suggest the next GVT round after this number of events; 0:
    // it will not suggest a round.
    void suggest_round_after(std::uint32_t events) noexcept;

  private:
    void execute_events();
    EventBound short_horizon() const noexcept;
    void begin_short_events() noexcept;
    void end_short_events(bool is_failed) noexcept;
    bool may_undo_events() const noexcept;
    bool is_short_without_past(const LpRecord& lp, const PendingEntry& entry,
                               bool may_undo) const noexcept;
    void execute_short(Group& group, LpRecord& lp, EventRecord& event,
                       EventPrefetcher::Guess guess);
    void execute_next(Group& group, LpRecord& lp, const PendingEntry& entry);
    void run_timed(Group& group, LpRecord& lp, const PendingEntry& entry, EventRecord& event);
    void run_event(Group& group, LpRecord& lp, EventRecord& event);
    bool has_no_past(Group& group, LpRecord& lp);
    void execute(Group& group, LpRecord& lp, EventRecord& event);
    void execute_irrevocable(Group& group, LpRecord& lp, EventRecord& event);
    template <class Event>
    bool may_be_logged(const LpRecord& lp, const Event& event) const noexcept;
    void execute_logged(Group& group, LpRecord& lp, EventRecord& event,
                        EventPrefetcher::Guess guess);
    void execute_logged_by_call(Group& group, LpRecord& lp, EventRecord& event);
    void release_short_by_call(LpRecord& lp);
    void call_on_commit();
    void begin_execution(LpRecord& lp, EventRecord& event, HistoryEntry& entry);
    void call_handler(LpRecord& lp, EventRecord& event, HistoryEntry& entry);
    void leave_crashed();
    void defer_running();
    void fail_running(std::string what);
    void keep_running();
    void check_change(const LpRecord& lp);
    RunningHandler running_handler() const noexcept override;

    WorkerCore& core_;
    Throttle& throttle_;
    Committer& committer_;
    Ending& ending_;
    Sends& sends_;
    Rollbacks& rollbacks_;
    RollbackCheck check_;
    LoggedExecution logged_;
    EventPrefetcher ahead_;
    EventPrefetcher::Guess guess_;  // for the event that is being executed
    // Short events and events in the log use this context. docs/decisions/0044 explains the
    // alignment.
    alignas(64) Context context_;
    std::uint32_t left_ = 0;            // events that the batch may still execute
    std::uint32_t short_executed_ = 0;  // events of execute_short(), not yet in the counters
    std::uint32_t until_timed_;         // events until the next timed event
    std::uint64_t suggests_round_at_ = UINT64_MAX;  // number of executed events
    const bool draws_deferrals_;                    // --check-interrupt
    const bool is_plain_;                           // execute_short() may be used in this run
    const bool logs_at_once_;  // short events that may be undone need only execute_logged()
};

}  // namespace nw
