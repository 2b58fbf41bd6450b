// One rank of a conservative run: what its workers share. Made by the main thread.
//
//     mail of a group, ready list of a worker   any worker, net role → owner
//     rounds                                    slots: their worker → net role; result: net role → all
//     net role                                  a lock; transport, outgoing batches
//     failure                                   the first in the order of events, under a mutex
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

#include "base/spin_lock.hpp"
#include "event/event_key.hpp"
#include "gvt/sleepers.hpp"
#include "inorder/in_order_executor.hpp"
#include "inorder/window_rounds.hpp"
#include "net/exchange.hpp"
#include "stats/live_progress.hpp"
#include "stats/run_history.hpp"

namespace nw {

class WindowRank {
  public:
    WindowRank(const RunPlan& plan, Transport& transport, MemorySource& memory,
               OutputWriter& output, LiveProgress& progress, const std::atomic<int>& stop_signal);

    InOrderWorld& world() noexcept { return world_; }
    const RunPlan& plan() const noexcept { return world_.plan; }
    std::uint32_t id() const noexcept { return world_.rank; }
    WindowRounds& rounds() noexcept { return rounds_; }
    LiveProgress& progress() noexcept { return progress_; }
    RunHistory& history() noexcept { return history_; }  // the first worker's
    int stop_signal() const noexcept { return stop_signal_.load(std::memory_order_relaxed); }

    // While groups are built: what has come waits for them.
    void receive_early();
    // Thread: any worker, between events. Moves batches and the reduction on, unless another does.
    // Returns whether something is under way that only another step will find.
    bool net_step();
    // Thread: the last to arrive at the round, for which nobody else may look any more.
    void begin_reduction();
    // Nobody moves anything meanwhile.
    std::unique_lock<SpinLock> hold_network() { return std::unique_lock(net_role_); }
    // What the window that is cut is waiting for.
    std::string waiting_for();
    bool may_sleep(std::uint32_t w) const noexcept { return sleepers_.may_sleep(w); }
    // Thread: worker w. Until there is another result than that of window `seen`, or no use in waiting for it.
    void sleep(std::uint32_t w, std::uint32_t seen);

    // In a catch block, with what the worker was executing. What the model did at some event is agreed upon
    // by all ranks, and the first of such failures ends the run; anything else ends it at once.
    void fail(const EventKey& at);
    // After a failure: nobody waits for other ranks any more.
    void give_up() noexcept;
    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    bool broken() const noexcept { return broken_.load(); }
    EventKey failed_at();
    void rethrow_failure();

  private:
    bool step();

    Exchange exchange_;
    InOrderWorld world_;
    LiveProgress& progress_;
    const std::atomic<int>& stop_signal_;
    RunHistory history_;

    SpinLock net_role_;
    WindowRounds rounds_;
    Sleepers sleepers_;

    std::atomic<bool> failed_{false};
    std::atomic<bool> broken_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    EventKey failed_at_;
    bool failure_is_models_ = false;
};

}  // namespace nw
