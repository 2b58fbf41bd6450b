// SPDX-License-Identifier: Apache-2.0
// Moves groups to other workers (rebinding), without a pause of any worker. The old owner finishes
// the commit under way, and posts the group's pending events and the list of the group's
// uncommitted LPs. The new owner adds both to its own pending events and list. The old owner passes
// on mail that still arrives for the group. The plan of the moves belongs to a GVT round. Each of
// the two workers does its part after it has read the result of this round and before its next cut.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timewarp/rank/rebinding.hpp"
#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Handovers {
  public:
    Handovers(WorkerCore& core, Committer& committer, Ending& ending)
        : core_(core), committer_(committer), ending_(ending) {}

    // Called when the worker has read the result of a round. Reads the plan that belongs to the
    // round, if there is one.
    void on_gvt();

    // Notes the backlogs of the worker's groups for a plan of Rebinding. Cost: O(pending events of
    // the worker + groups of the run).
    void note_backlogs();

    // Whether groups change their workers with the round whose result was read last.
    bool are_planned() const noexcept;
    // Whether groups still have to leave or to arrive. The next cut waits for these groups.
    bool is_under_way() const noexcept { return !leaving_.empty() || awaited_ != 0; }
    bool is_leaving() const noexcept { return !leaving_.empty(); }
    bool is_awaiting() const noexcept { return awaited_ > 0; }

    // Element g: the worker to which group g goes; this worker if the group is not leaving.
    std::vector<std::uint32_t> new_workers() const;
    // Posts the leaving groups to their new workers. Requires: no commit is under way, and no event
    // of the leaving groups is deferred. The end of the last commit has passed on the output of the
    // groups' committed events, so the new owner outputs nothing for these events.
    void hand_over(const std::vector<std::uint32_t>& new_workers);
    void take_over();
    // Whether this worker owns the group. If not, first takes over the groups that other workers
    // have handed over to this worker.
    bool owns(std::uint32_t group);

  private:
    void separate_senders(const std::vector<std::uint32_t>& new_workers);

    WorkerCore& core_;
    Committer& committer_;
    Ending& ending_;
    std::vector<GroupMove> leaving_;
    std::int64_t awaited_ = 0;  // groups; below 0: some arrived before this worker read the plan
};

}  // namespace nw
