// SPDX-License-Identifier: Apache-2.0
// One rank of a conservative run: the data that its workers share. The main thread creates it.
//
//     mail of a group, ready list of a worker   any worker, net role → owner
//     rounds                                    slots: their worker → net role;
//                                               result: net role → all
//     net role                                  a lock; transport, outgoing batches
//     failure                                   the first in the order of events, under a mutex
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

#include "api/event_key.hpp"
#include "engine/inorder/in_order_executor.hpp"
#include "engine/inorder/window_sums.hpp"
#include "engine/sleepers.hpp"
#include "net/exchange.hpp"
#include "net/reduction_rounds.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/run_history.hpp"
#include "util/locks.hpp"

namespace nw {

class EngineTrial;

// One round per window. A batch carries the window in which it was sent.
using WindowRounds = ReductionRounds<WindowSums>;

class WindowRank {
  public:
    WindowRank(const RunPlan& plan, Transport& transport, MemorySource& memory,
               OutputWriter& output, LiveProgress& progress, const std::atomic<int>& stop_signal);

    InOrderWorld& world() noexcept { return world_; }
    const RunPlan& plan() const noexcept { return world_.plan; }
    std::uint32_t id() const noexcept { return world_.rank; }
    WindowRounds& rounds() noexcept { return rounds_; }
    LiveProgress& progress() noexcept { return progress_; }
    RunHistory& history() noexcept { return history_; }  // written by the first worker
    // Of --engine auto; null: no other engine continues the run. Set before the workers start.
    EngineTrial* trial() const noexcept { return trial_; }
    void set_trial(EngineTrial* trial) noexcept { trial_ = trial; }
    int stop_signal() const noexcept { return stop_signal_.load(std::memory_order_relaxed); }

    // While groups are built: receives batches and keeps them until the groups exist.
    void receive_early();
    // Thread: any worker, between events. Advances batches and the reduction, unless another thread
    // does so at the moment. Returns whether something is under way that only another step will
    // find.
    bool net_step();
    // Thread: the last worker to arrive at the round. It waits for the net role, because no other
    // worker may poll the round any more.
    void begin_reduction();
    // Sends the batches that wait. The result of a window does not imply that this rank has sent
    // all batches for other ranks. Requires: no worker executes. Thread: worker 0.
    void finish_sending();
    // No thread moves messages while the lock is held.
    std::unique_lock<SpinLock> hold_network() { return std::unique_lock(net_role_); }
    // Describes which contributions or batches the cut window is waiting for.
    std::string waiting_for();
    bool may_sleep(std::uint32_t w) const noexcept { return sleepers_.may_sleep(w); }
    // Thread: worker w. Sleeps until the result of window `seen` is known or the rank is broken. It
    // may return earlier.
    void sleep(std::uint32_t w, std::uint32_t seen);

    // Requires: called in a catch block. `at`: the key of the event that the worker was executing.
    // All ranks agree on the model's failures, and the first of them in the order of events ends
    // the run. Any other failure ends the run at once.
    void fail(const EventKey& at);
    // After a failure: workers no longer wait for other ranks.
    void give_up() noexcept;
    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    bool broken() const noexcept { return broken_.load(); }
    EventKey failed_at();
    void rethrow_failure();

  private:
    bool step() NW_REQUIRES(net_role_);

    Exchange exchange_;
    InOrderWorld world_;
    LiveProgress& progress_;
    const std::atomic<int>& stop_signal_;
    RunHistory history_;
    EngineTrial* trial_ = nullptr;

    SpinLock net_role_;
    WindowRounds rounds_;
    Sleepers sleepers_;

    std::atomic<bool> failed_{false};
    std::atomic<bool> broken_{false};
    Mutex failure_mutex_;
    std::exception_ptr failure_ NW_GUARDED_BY(failure_mutex_);
    EventKey failed_at_ NW_GUARDED_BY(failure_mutex_);
    bool failure_is_models_ NW_GUARDED_BY(failure_mutex_) = false;
};

}  // namespace nw
