// SPDX-License-Identifier: Apache-2.0
// Rolls LPs back. A rollback first cancels everything that the undone events have sent, because
// other LPs may be executing these canceled events in vain. Then it restores the LP's state. This
// step accesses only the LP's own memory, so it can wait.
//
// If a canceled event of this worker was executed, its LP is rolled back, too. These rollbacks are
// processed from a list and not by recursion, because a chain of rollbacks may be as long as the
// simulation. When a public function returns, it has processed the whole list.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/timewarp/worker/deferrals.hpp"
#include "engine/timewarp/worker/worker_core.hpp"
#include "event/wire_event.hpp"
#include "lp/event_memory.hpp"
#include "lp/history.hpp"
#include "lp/rollback_methods.hpp"
#include "memory/handler/fault_guard.hpp"

namespace nw {

class Committer;
class Ending;
class Sends;

class Rollbacks final : private Undoing {
  public:
    Rollbacks(WorkerCore& core, Committer& committer, Sends& sends, Ending& ending);

    // Prepares the calling thread for handlers that a rollback calls.
    void adopt_thread() { guard_.adopt_thread(); }
    void join_thread() noexcept { guard_.join_thread(); }

    // --- anti-messages from other workers ---

    // If the event of the anti-message was executed, rolls the LP back.
    void receive_anti_message(const WireEvent& wire, Group& group, LpRecord& lp);
    // If the pending event was canceled, frees its record and removes the anti-message, if one has
    // arrived. Returns whether the event was canceled. Requires: the event is no longer in the
    // pending set.
    bool drop_if_canceled(Group& group, LpRecord& lp, EventRecord& event) {
        const bool is_canceled = event.status == EventStatus::canceled ||
                                 (event.canceled_by_identity && lp.unmatched_anti_messages > 0 &&
                                  take_anti_message(group, lp, event));
        if (is_canceled && !core_.short_events.is_record(event)) free_event(group, event);
        return is_canceled;
    }
    // Whether a pending event was canceled: the status in the event's record is `canceled`, or the
    // event's anti-message has arrived and waits in the group.
    bool is_canceled(const PendingEntry& entry) const noexcept;

    // --- rollbacks ---

    // Called before a straggler with this key is executed. Undoes the LP's events after the key.
    void roll_back_before(Group& group, LpRecord& lp, const EventKey& key);
    // Undoes all events at `bound` or later, of all LPs.
    void roll_back_all_from(const EventKey& bound);
    // Undoes the event and all later events of its LP. Requires: the event is in its LP's history
    // or in the log, and is not final.
    void roll_back_to(const EventRecord& event);
    // Undoes the newest event of the LP's history. Returns false if earlier events had to be
    // undone, too (restore_state()).
    bool roll_back_newest(Group& group, LpRecord& lp);

    // Restores the LP's state, random counter, sequence and last key at `position`. Keeps the
    // entries. Returns the position whose state was restored. The returned position is earlier than
    // `position` if an event failed or behaved differently while the LP coasted forward, and if
    // this event can still be undone. Then the state is the one before this event. The first
    // execution of such an event was wrong: it read data that the event does not read in order, for
    // example freed memory. No saved state contains freed memory, so the second execution read
    // other bytes.
    History::Ordinal restore_state(Group& group, LpRecord& lp, History::Ordinal position);

    // Whether the running handler coasts forward (executes an event again), and the event can still
    // be undone. False if the worker executes all LPs of the run. Such a worker executes all events
    // in order, and undoes only events that --check-rollback selects.
    bool is_coasting_ahead() const noexcept;

    Deferrals& deferrals() noexcept { return deferrals_; }
    const Deferrals& deferrals() const noexcept { return deferrals_; }

    // Whether chains of rollbacks are being processed, so that events in histories may be marked as
    // canceled.
    bool is_canceling() const noexcept { return !to_cancel_.empty(); }

  private:
    // Returns whether the anti-message of a pending event has arrived. In this case the function
    // removes the anti-message.
    static bool take_anti_message(Group& group, LpRecord& lp, const EventRecord& event);
    template <class IsUndone>
    History::Ordinal first_of(LpRecord& lp, IsUndone&& is_undone) const noexcept;
    History::Ordinal roll_back(Group& group, LpRecord& lp, History::Ordinal wanted);
    void undo_sends(Group& group, LpRecord& lp, History::Ordinal from, History::Ordinal to);
    void make_pending(Group& group, LpRecord& lp, History::Ordinal position);
    void cancel_here(EventRecord& event);
    void cancel_by_identity(const WireEvent& anti, Group& group, LpRecord& lp);
    void cancel_processed();
    void roll_back_chain(const EventRecord& event);

    LpRecord& lp() noexcept override;
    PlatformHeap& heap() noexcept override;
    History::Ordinal wanted() const noexcept override;
    HistoryEntry& entry_at(History::Ordinal position) noexcept override;
    HistoryEntry* take_back_newest() noexcept override;
    void call_on_reverse(HistoryEntry& entry) override;
    bool coast(History::Ordinal from) override;
    void undo_coasted(std::string_view what);
    [[noreturn]] void fail_undoing(std::string_view what);

    WorkerCore& core_;
    Committer& committer_;
    Sends& sends_;
    Ending& ending_;
    Deferrals deferrals_{core_, *this};
    std::vector<EventRecord*> to_cancel_;  // executed events whose LPs must be rolled back
    // State of restore_state().
    struct Coasting {
        Group* group = nullptr;
        LpRecord* lp = nullptr;
        History::Ordinal to = 0;          // the first entry that is not executed again
        History::Ordinal taken_back = 0;  // from here on, random numbers and sends were taken back
        History::Ordinal at = 0;
        std::uint32_t sequence = 0;  // of the LP, before the event at `at`
    };
    Coasting coasting_{};
    FaultGuard guard_;  // for handlers that a rollback calls
};

}  // namespace nw
