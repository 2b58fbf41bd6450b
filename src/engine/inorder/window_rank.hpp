// SPDX-License-Identifier: Apache-2.0
// One rank of a conservative run: the data that its workers share. The main thread creates the
// WindowRank. The threads of a rank exchange data only through the following objects, and through
// the objects that ThreadedRank lists. An arrow points from the writing thread to the reading
// thread:
//
//     mail of a group, ready list of a worker   any worker, net role → owner
//     rounds                                    slots: their worker → net role;
//                                               result: net role → all
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "engine/inorder/in_order_executor.hpp"
#include "engine/inorder/window_sums.hpp"
#include "engine/threaded_rank.hpp"
#include "net/reduction_rounds.hpp"

namespace nw {

// One round per window. A batch carries the window in which it was sent.
using WindowRounds = ReductionRounds<WindowSums>;

class WindowRank final : public ThreadedRank {
  public:
    WindowRank(const RunPlan& plan, Transport& transport, MemorySource& memory,
               OutputWriter& output, LiveProgress& progress, const std::atomic<int>& stop_signal);

    InOrderWorld& world() noexcept { return world_; }
    Group* group(std::uint32_t g) noexcept { return world_.groups[g].get(); }
    WindowRounds& rounds() noexcept { return rounds_; }
    bool is_round_under_way() const noexcept { return rounds_.is_under_way(); }
    Partition::Owner owner(std::uint32_t g) const noexcept {
        return plan_.partition.first_owner(g);
    }

    // Thread: any worker, between events. Advances batches and the reduction, unless another thread
    // does so at the moment. Returns whether the caller should soon repeat the call. There are
    // three reasons: another thread holds the net role, the window waits for batches of other
    // ranks, or batches wait to be sent.
    bool net_step();
    // Thread: the last worker to arrive at the round. The function waits for the net role, because
    // the caller may be the only worker that still advances the round.
    void begin_reduction();
    // Sends the batches that wait. The result of a window does not imply that this rank has sent
    // all batches for other ranks. Requires: no worker executes. Thread: worker 0.
    void finish_sending();
    // Describes which contributions or batches are still missing in the present round.
    std::string waiting_for();
    // Thread: worker w. Returns whether the result of window `seen` is known, or the rank has
    // failed. If worker w serves the network, the call also advances the network, and returns true
    // if there is more to receive or to send.
    bool has_work(std::uint32_t w, std::uint32_t seen);

  private:
    bool step() NW_REQUIRES(net_role_);

    InOrderWorld world_;
    WindowRounds rounds_;
};

}  // namespace nw
