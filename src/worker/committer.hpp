// Making final what lies before a bound: hooks, output, digest, and memory given back. A commit takes
// several turns where it is long, so that it does not delay the next cut.
//
// It knows which LPs have executed something that is not final, for everybody who has to look at those.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <algorithm>
#include <vector>

#include "worker/worker_core.hpp"

namespace nw {

struct OutputRow;

class Committer {
  public:
    explicit Committer(WorkerCore& core);
    ~Committer();
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;

    // Entries before `bound` are final. A commit under way is continued with the new bound. Where an event of the rank
    // has failed, the commit ends before the earliest such event.
    void begin(const EventKey& bound);
    // The same where nothing was undone since the last time. With the same bound there is nothing to begin, for
    // what was executed since lies behind it: where many events have one time, GVT stays for many rounds.
    void go_on(const EventKey& bound);
    // Commits some LPs. Returns whether there was anything to do. With `keeps_nothing` an LP whose past is
    // final forgets it.
    bool step(bool keeps_nothing);
    // Nothing of the commit under way is left.
    bool is_done() const noexcept { return is_done_; }
    const EventKey& bound() const noexcept { return bound_; }
    VirtualTime last_committed_time() const noexcept { return last_committed_time_; }
    void resume_from(VirtualTime last_committed) noexcept { last_committed_time_ = last_committed; }

    // Commits what is final of an LP, before step() comes to the LP. Requires: the LP has entries that are not committed.
    void commit_now(Group& group, LpRecord& lp);
    // The event of an entry that is in no history has been executed, and is final.
    void commit_at_once(Group& group, LpRecord& lp, HistoryEntry& entry);
    // For a worker that does most of this itself.
    void note_committed(VirtualTime time) noexcept {
        last_committed_time_ = std::max(last_committed_time_, time);
    }
    void release_side_effects_at_once(Group& group, HistoryEntry& entry);

    // --- LPs whose history has entries that are not final ---

    // The LP executes something.
    void note_uncommitted(LpRecord& lp) {
        if (lp.has_uncommitted) return;
        lp.has_uncommitted = true;
        uncommitted_.push_back(&lp);
    }
    // `visit` may roll LPs back, but not make them execute or commit anything: the lists stay as they are.
    template <class Visit>
    void for_each_uncommitted(Visit&& visit) const {
        for (LpRecord* lp : uncommitted_) visit(*lp);
        for (LpRecord* lp : committing_) visit(*lp);
    }
    // They leave this list if `is_taken(lp)`. Requires: is_done().
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
    bool all_is_final() const noexcept { return uncommitted_.empty() && committing_.empty(); }

    // --- output rows ---

    // Takes the rows of an entry that is final; they go to the output at the end of the commit.
    void take_rows(const HistoryEntry& entry, const EventKey& key);
    // All that were taken go to the output now: those of on_end().
    void write_rows();

    void validate() const;

  private:
    void commit_batch(bool keeps_nothing);
    void end_before_failure();
    void prefetch_next() noexcept;
    void commit(Group& group, LpRecord& lp, bool keeps_nothing);
    bool commit_entry(Group& group, LpRecord& lp, HistoryEntry& entry);
    void append_to_digest(LpRecord& lp, const EventRecord& event);
    void release_side_effects(Group& group, HistoryEntry& entry);
    void take_figures(const HistoryEntry& entry);
    bool call_on_commit(Group& group, LpRecord& lp, HistoryEntry& entry);
    void report_failure(const EventRecord& event, const HistoryEntry& entry);
    void fail_in_on_commit(const std::string& what);

    WorkerCore& core_;
    std::vector<LpRecord*> uncommitted_;
    std::vector<LpRecord*> committing_;  // the same, of the commit under way
    EventKey bound_{};
    bool is_done_ = true;
    bool has_taken_over_ = false;  // LPs that may have executed something before the bound
    VirtualTime last_committed_time_ = 0;
    std::vector<OutputRow> rows_;
};

}  // namespace nw
