// SPDX-License-Identifier: Apache-2.0
// The work of a worker's turn that does not concern events: the worker moves to another CPU, frees
// memory, and measures its memory.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include "engine/timewarp/worker/memory_reclaim.hpp"
#include "engine/timewarp/worker/memory_sampler.hpp"
#include "engine/timewarp/worker/relocation.hpp"
#include "engine/timewarp/worker/throttle.hpp"
#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Housekeeping {
  public:
    Housekeeping(WorkerCore& core, Throttle& throttle)
        : core_(core), throttle_(throttle), reclaim_(core), relocation_(core) {}

    // Carries out the orders of the placement policy. Called at the beginning of a turn.
    void relocate() { relocation_.step(); }
    // Whether relocate() will carry out orders.
    bool has_orders() const noexcept { return relocation_.has_orders(); }

    // Called for each new GVT, after Throttle::on_gvt(). `events_ahead_max`: the minimum of
    // events_ahead_max() over all workers of all ranks. If memory is short, limits the number of
    // events beyond GVT to this minimum, or to the worker's own present limit if that is lower. So
    // the worker with the least free memory limits all workers. The reason is that the events of
    // one worker send events to other workers, and these events take memory there.
    void on_gvt(std::uint32_t events_ahead_max);
    // A contribution to a GVT round: MemoryReclaim::events_ahead_max().
    std::uint32_t events_ahead_max() const noexcept { return reclaim_.events_ahead_max(); }

    // Whether memory is short. In this case, an LP keeps no part of its history when all events of
    // the history are final.
    bool is_memory_low() const noexcept { return reclaim_.is_low(); }
    // Called in every turn. Frees memory for a limited time.
    void reclaim_memory();

    // Called after a commit, and at the end of the run.
    void sample_memory_if_due() {
        if (sampler_.is_due(core_.now)) sample_memory();
    }
    void sample_memory() noexcept;
    const MemoryKinds& memory_kinds() const noexcept { return sampler_.largest(); }

  private:
    WorkerCore& core_;
    Throttle& throttle_;
    MemoryReclaim reclaim_;
    Relocation relocation_;
    MemorySampler sampler_;
};

}  // namespace nw
