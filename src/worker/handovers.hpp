// Groups that change their worker (rebinding). Nobody stops: the old owner finishes the commit under
// way, packs what it keeps for the group and posts it; the new owner unpacks it; mail that still
// comes to the old one is sent on. Both do so between learning the round that the plan belongs to and
// their next cut.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>
#include <vector>

#include "event/pending_set.hpp"
#include "rank/rebinding.hpp"
#include "worker/committer.hpp"
#include "worker/ending.hpp"
#include "worker/worker_core.hpp"

namespace nw {

class ShortEvents;

class Handovers {
  public:
    Handovers(WorkerCore& core, PendingSet& pending, ShortEvents& short_events,
              Committer& committer, Ending& ending)
        : core_(core),
          pending_(pending),
          short_(short_events),
          committer_(committer),
          ending_(ending) {}

    // A round was learnt: the plan that belongs to it, if there is one.
    void on_gvt();

    // With the round that was learnt last groups change their workers.
    bool are_planned() const noexcept;
    // The next cut waits until what leaves has left and what comes has come.
    bool is_under_way() const noexcept { return !leaving_.empty() || awaited_ != 0; }
    bool is_leaving() const noexcept { return !leaving_.empty(); }
    bool is_awaiting() const noexcept { return awaited_ > 0; }

    // By group: this worker, or the one that the group goes to.
    std::vector<std::uint32_t> new_workers() const;
    // Requires: no commit is under way, and nothing that leaves is put aside. What these groups committed
    // below its bound has been handed to the output, so that their next owner need not know of it.
    void hand_over(const std::vector<std::uint32_t>& new_workers);
    void take_over();

    // Events: with groups that came, less those that left.
    std::int64_t uncommitted_taken_over() const noexcept { return uncommitted_taken_over_; }

  private:
    void part_senders(const std::vector<std::uint32_t>& new_workers);

    WorkerCore& core_;
    PendingSet& pending_;
    ShortEvents& short_;
    Committer& committer_;
    Ending& ending_;
    std::vector<GroupMove> leaving_;
    std::int64_t awaited_ = 0;  // groups; below 0: come before this worker learnt the plan
    std::int64_t uncommitted_taken_over_ = 0;
};

}  // namespace nw
