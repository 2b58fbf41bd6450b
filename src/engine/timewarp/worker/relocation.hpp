// SPDX-License-Identifier: Apache-2.0
// Carries out the orders of the placement policy for one worker
// (engine/timewarp/rank/cpu_assignments.hpp). The worker binds itself to its new CPU and requests a
// move of its groups' pages. pagemigd then moves the pages while the worker executes events. If
// pagemigd is too slow, the policy orders all workers to move the pages of their groups themselves.
// Each worker reads this order between two turns, and executes no events until its own pages have
// been moved. Workers do not wait for each other. This corresponds to the full migration of
// AsymSched, which moves all pages in one step.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>

#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Relocation {
  public:
    explicit Relocation(WorkerCore& core) : core_(core) {}

    // Cost: one comparison, unless there are new orders.
    void step();
    // Whether step() will carry out orders.
    bool has_orders() const noexcept;

  private:
    void carry_out();
    void request_migrations();
    void fetch_pages();

    WorkerCore& core_;
    std::uint32_t orders_seen_ = 0;
    std::uint32_t fetches_seen_ = 0;
};

}  // namespace nw
