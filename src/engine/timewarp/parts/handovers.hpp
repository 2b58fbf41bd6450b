// SPDX-License-Identifier: Apache-2.0
// Groups that change their worker (rebinding). No worker stops. The old owner finishes the commit
// under way, packs what it keeps for the group, and posts it. The new owner unpacks it. The old
// owner passes on mail that still arrives for the group. Both workers do their part between
// learning the round that the plan belongs to and their next cut.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timewarp/parts/committer.hpp"
#include "engine/timewarp/parts/ending.hpp"
#include "engine/timewarp/parts/worker_core.hpp"
#include "engine/timewarp/rank/rebinding.hpp"
#include "event/pending_set.hpp"

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

    // Called when a round was learned. Reads the plan that belongs to the round, if there is one.
    void on_gvt();

    // Whether groups change their workers with the last learned round.
    bool are_planned() const noexcept;
    // Whether groups still have to leave or to arrive. The next cut waits for them.
    bool is_under_way() const noexcept { return !leaving_.empty() || awaited_ != 0; }
    bool is_leaving() const noexcept { return !leaving_.empty(); }
    bool is_awaiting() const noexcept { return awaited_ > 0; }

    // By group: the worker that the group goes to; this worker if the group is not leaving.
    std::vector<std::uint32_t> new_workers() const;
    // Requires: no commit is under way, and no event of the leaving groups is deferred. The output
    // of their committed events has been handed over, so the next owner has nothing to output for
    // them.
    void hand_over(const std::vector<std::uint32_t>& new_workers);
    void take_over();

    // Uncommitted events of groups that arrived, minus those of groups that left.
    std::int64_t uncommitted_taken_over() const noexcept { return uncommitted_taken_over_; }

  private:
    void part_senders(const std::vector<std::uint32_t>& new_workers);

    WorkerCore& core_;
    PendingSet& pending_;
    ShortEvents& short_;
    Committer& committer_;
    Ending& ending_;
    std::vector<GroupMove> leaving_;
    std::int64_t awaited_ = 0;  // groups; below 0: some arrived before this worker learned the plan
    std::int64_t uncommitted_taken_over_ = 0;
};

}  // namespace nw
