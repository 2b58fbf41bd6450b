// SPDX-License-Identifier: Apache-2.0
// The data that the workers of a rank share in each engine with worker threads. Rank (Time Warp)
// and WindowRank (conservative) add groups, mail and rounds.
//
//     net role   a lock, taken mostly by try_lock; the holder moves batches between ranks
//     sleepers   any thread → the sleeping thread
//     carriers   a worker's own thread ↔ the thread that takes its turns
//     failure    the first in the order of events, under a mutex
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "api/event_key.hpp"
#include "engine/carriers.hpp"
#include "engine/sleepers.hpp"
#include "net/exchange.hpp"
#include "util/locks.hpp"

namespace nw {

class EngineTrial;
class RunHistory;
struct LiveProgress;
struct RunPlan;

class ThreadedRank {
  public:
    ThreadedRank(const ThreadedRank&) = delete;
    ThreadedRank& operator=(const ThreadedRank&) = delete;

    RankId id() const noexcept { return exchange_.rank(); }
    const RunPlan& plan() const noexcept { return plan_; }
    int stop_signal() const noexcept { return stop_signal_.load(std::memory_order_relaxed); }
    LiveProgress& progress() noexcept { return progress_; }
    // Thread: worker 0.
    RunHistory& history() noexcept { return *history_; }
    // The trial of --engine auto; null: no other engine continues the run. Set before the workers
    // start.
    EngineTrial* trial() const noexcept { return trial_; }
    void set_trial(EngineTrial* trial) noexcept { trial_ = trial; }

    // While groups are built: receives batches and keeps them for the first net_step().
    void receive_early();
    // While the lock is held, no thread moves messages between ranks, so that one thread of each
    // rank may use RankGroup. Requires: no worker executes.
    std::unique_lock<SpinLock> hold_network() { return std::unique_lock(net_role_); }
    Carriers& carriers() noexcept { return carriers_; }
    Sleepers& sleepers() noexcept { return sleepers_; }

    // --- Failures. Thread: any ---

    // Ends the run immediately.
    void fail(std::exception_ptr failure);
    // An irrevocable event has failed. The rank keeps the failure of the earliest event. The next
    // round informs the workers of all ranks that an event has failed, and all ranks agree on the
    // earliest failure.
    void fail_in_model(const EventKey& key, const std::string& message);
    // The key of this rank's earliest failed event. If no event has failed, the time of the key is
    // infinite.
    EventKey model_failed_at();
    // Whether model_failed_at() is finite. Takes no lock.
    bool model_failed() const noexcept { return model_failed_.load(std::memory_order_acquire); }
    // Makes all workers leave their event loops. After that, they call no function of the model.
    void stop() noexcept;
    // Sequentially consistent, because WakeSignal requires it.
    bool failed() const noexcept { return failed_.load(); }
    // Throws the failure of this rank, if there is one.
    void rethrow_failure();
    // Runs step(), unless the rank has failed. If step() throws, the rank fails.
    template <class Step>
    void guarded(Step&& step) noexcept {
        try {
            if (!failed()) step();
        } catch (...) {
            fail(std::current_exception());
        }
    }

  protected:
    // `has_net_thread`: a thread that is not a worker has the net role.
    ThreadedRank(const RunPlan& plan, Transport& transport, LiveProgress& progress,
                 const std::atomic<int>& stop_signal, bool has_net_thread);
    ~ThreadedRank();

    const RunPlan& plan_;
    Exchange exchange_;
    LiveProgress& progress_;
    Carriers carriers_;
    Sleepers sleepers_;
    SpinLock net_role_;  // taken by try_lock, except where a thread waits for it

  private:
    // Called after an event has failed. Informs the workers soon.
    virtual void announce_model_failure() noexcept {}

    const std::atomic<int>& stop_signal_;
    std::unique_ptr<RunHistory> history_;
    EngineTrial* trial_ = nullptr;
    std::atomic<bool> failed_{false};
    std::atomic<bool> model_failed_{false};
    Mutex failure_mutex_;
    std::exception_ptr failure_ NW_GUARDED_BY(failure_mutex_);
    EventKey model_failed_at_ NW_GUARDED_BY(failure_mutex_){time_infinity, 0, 0, 0};
};

}  // namespace nw
