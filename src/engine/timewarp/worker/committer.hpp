// SPDX-License-Identifier: Apache-2.0
// Commits the events before a bound: calls hooks, passes on output, updates digests, and collects
// fossils. A long commit takes several turns, so that it does not delay the next cut.
//
// Executed events are in the worker's log (lp/past_log.hpp) or in histories of LPs. The committer
// moves events from the log into histories, and lists the LPs whose histories have entries that are
// not final. Other parts of the worker use these lists.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <algorithm>
#include <vector>

#include <numawarp/send_buffer.hpp>

#include "engine/timewarp/worker/worker_core.hpp"
#include "event/event_record.hpp"

namespace nw {

struct OutputRow;

class Committer {
  public:
    explicit Committer(WorkerCore& core);
    ~Committer();
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;

    // Begins to commit the entries before `bound`, which are final. A commit under way continues
    // with the new bound. If an event of the rank has failed, the commit ends before the earliest
    // failed event.
    void begin(const EventKey& bound);
    // As begin(). Requires: nothing was undone since the last commit. Does nothing if the bound is
    // unchanged and no LP was added: no event that was executed since the last commit is before the
    // bound. This saves work if many events have one time, because GVT then stays unchanged for
    // many rounds.
    void resume(const EventKey& bound);
    // Commits the events of some LPs. Returns whether there was anything to do. With
    // `forgets_past`, an LP whose history is final keeps no part of its history.
    bool step(bool forgets_past);
    // Whether no commit is under way.
    bool is_done() const noexcept { return is_done_; }
    VirtualTime last_committed_time() const noexcept { return last_committed_time_; }
    void resume_from(VirtualTime last_committed) noexcept { last_committed_time_ = last_committed; }

    // Commits the LP's final events, before step() reaches them. If they are in the log, commits
    // all final events of the log. Requires: the LP has events that are not committed.
    void commit_now(Group& group, LpRecord& lp);
    // Commits an irrevocable event that has just been executed. `entry` is not in a history.
    void commit_at_once(Group& group, LpRecord& lp, HistoryEntry& entry);
    // Parts of commit_at_once(), for a caller that does the rest itself.
    void note_committed(VirtualTime time) noexcept {
        last_committed_time_ = std::max(last_committed_time_, time);
    }
    void release_side_effects_at_once(Group& group, HistoryEntry& entry);

    // --- LPs whose history has entries that are not final ---

    // The LP has a new history entry.
    void note_uncommitted(LpRecord& lp) {
        if (lp.has_uncommitted) return;
        lp.has_uncommitted = true;
        uncommitted_.push_back(&lp);
    }
    // `visit` may roll LPs back, but must not execute or commit events: the lists must not change.
    template <class Visit>
    void for_each_uncommitted(Visit&& visit) const {
        for (LpRecord* lp : uncommitted_) visit(*lp);
        for (LpRecord* lp : committing_) visit(*lp);
    }
    // Removes the LPs for which `is_taken(lp)` is true from the list, and returns these LPs.
    // Requires: is_done().
    template <class Condition>
    std::vector<LpRecord*> take_uncommitted_if(Condition&& is_taken) {
        const auto taken = std::stable_partition(uncommitted_.begin(), uncommitted_.end(),
                                                 [&](LpRecord* lp) { return !is_taken(*lp); });
        std::vector<LpRecord*> lps(taken, uncommitted_.end());
        uncommitted_.erase(taken, uncommitted_.end());
        return lps;
    }
    void add_uncommitted(const std::vector<LpRecord*>& lps) {
        uncommitted_.insert(uncommitted_.end(), lps.begin(), lps.end());
        has_taken_over_ = true;
    }
    bool all_is_final() const noexcept {
        return uncommitted_.empty() && committing_.empty() && core_.log.empty();
    }

    // --- the worker's log ---

    // Moves the LP's events from the log into its history. Must be called before the history is
    // used for anything except its final entries.
    void take_into_history(Group& group, LpRecord& lp) {
        if (lp.newest_in_log != 0) [[unlikely]]
            move_into_history(group, lp);
    }
    // Calls take_into_history() for each LP of which the log contains an event at or after `from`.
    void take_into_histories(const EventKey& from);

    // --- output rows ---

    // Keeps the rows of a final entry until the end of the commit, which hands the rows over to the
    // output.
    void take_rows(const HistoryEntry& entry, const EventKey& key);
    // Immediately writes all rows that were taken from on_end().
    void write_rows();

    void validate() const;

  private:
    bool commit_batch(bool forgets_past);
    bool commit_log(std::uint32_t limit);
    void commit_rest(LogEntry& entry);
    void count_logged() noexcept;
    EventRecord& record_of(LogEntry& entry);
    void move_into_history(Group& group, LpRecord& lp);
    void add_to_history(Group& group, LogEntry& entry);
    void end_before_failure();
    void prefetch_next() noexcept;
    void commit(Group& group, LpRecord& lp, bool forgets_past);
    bool commit_entry(Group& group, LpRecord& lp, HistoryEntry& entry);
    void append_to_digest(LpRecord& lp, const EventRecord& event);
    void release_side_effects(Group& group, HistoryEntry& entry);
    void take_figures(const HistoryEntry& entry);
    bool call_on_commit(Group& group, LpRecord& lp, HistoryEntry& entry);
    void report_failure(const EventRecord& event, const HistoryEntry& entry);
    void fail_in_on_commit(const std::string& what);

    WorkerCore& core_;
    std::vector<LpRecord*> uncommitted_;
    std::vector<LpRecord*> committing_;  // LPs of the commit under way
    bool is_done_ = true;
    bool has_taken_over_ = false;  // added LPs may have events before core_.commit_bound
    VirtualTime last_committed_time_ = 0;
    // Events of the log that were committed and are not yet in the counters.
    std::uint32_t logged_committed_ = 0;
    VirtualTime last_logged_ = 0;
    std::vector<OutputRow> rows_;
    // The record of an event in the log, for on_commit().
    struct {
        alignas(16) EventRecord header;
        std::byte payload[detail::ShortBody::payload_bytes_max];
    } record_;
};

}  // namespace nw
