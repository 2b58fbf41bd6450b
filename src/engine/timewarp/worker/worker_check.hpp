// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of a worker between two turns. util/paranoid.hpp describes when this is
// done. All functions throw InternalError if an invariant is violated.
//
// Thread: the worker's thread, between two turns.
#pragma once

#include <cstdint>

#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Committer;
class Ending;
class Rollbacks;
class Sends;
class Standstill;
class Throttle;

class WorkerCheck {
  public:
    WorkerCheck(WorkerCore& core, const Throttle& throttle, const Committer& committer,
                const Ending& ending, const Standstill& standstill, const Sends& sends,
                const Rollbacks& rollbacks)
        : core_(core),
          throttle_(throttle),
          committer_(committer),
          ending_(ending),
          standstill_(standstill),
          sends_(sends),
          rollbacks_(rollbacks) {}

    // Checks everything. Returns the approximate number of objects that it has checked.
    std::uint64_t everything() const;
    // For the paranoid preset, at the end of each turn. Checks everything once after a new GVT, if
    // enough data have changed since the last complete check (a walk, util/paranoid.hpp).
    void after_turn() const;

  private:
    void between_turns() const;
    void lists() const;
    void uncommitted() const;
    std::uint64_t all_groups() const;
    std::uint64_t one_group(const Group& group) const;
    void pending() const;

    WorkerCore& core_;
    const Throttle& throttle_;
    const Committer& committer_;
    const Ending& ending_;
    const Standstill& standstill_;
    const Sends& sends_;
    const Rollbacks& rollbacks_;
};

}  // namespace nw
