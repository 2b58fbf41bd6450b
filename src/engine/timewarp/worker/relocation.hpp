// SPDX-License-Identifier: Apache-2.0
// Carries out the placement's orders for a worker (engine/timewarp/rank/cpu_assignments.hpp). The
// worker binds itself to its new CPU and requests its groups' pages, which pagemigd then moves. If
// pagemigd has been too slow, all workers are ordered at the same time to move their groups' pages
// themselves. No worker executes events meanwhile: this is the pause in which AsymSched migrates
// all pages at once.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>

#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Relocation {
  public:
    explicit Relocation(WorkerCore& core) : core_(core) {}

    // Cost: one comparison, unless there are new orders.
    void step();

  private:
    void carry_out();
    void ask_for_pages();
    void fetch_pages();

    WorkerCore& core_;
    std::uint32_t orders_seen_ = 0;
    std::uint32_t fetches_seen_ = 0;
};

}  // namespace nw
