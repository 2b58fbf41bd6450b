// SPDX-License-Identifier: Apache-2.0
#include "engine/threaded_rank.hpp"

#include "plan/run_plan.hpp"
#include "results/statistics/run_history.hpp"

namespace nw {

ThreadedRank::ThreadedRank(const RunPlan& plan, Transport& transport, LiveProgress& progress,
                           const std::atomic<int>& stop_signal, bool has_net_thread)
    : plan_(plan),
      exchange_(transport),
      progress_(progress),
      carriers_(plan.workers),
      sleepers_(carriers_, transport.ranks() > 1 && !has_net_thread ? &transport : nullptr),
      stop_signal_(stop_signal),
      history_(std::make_unique<RunHistory>()) {}

ThreadedRank::~ThreadedRank() = default;

void ThreadedRank::receive_early() {
    if (!net_role_.try_lock()) return;
    const LockGuard role(net_role_, std::adopt_lock);
    exchange_.receive_early();
}

void ThreadedRank::fail(std::exception_ptr failure) {
    {
        const LockGuard lock(failure_mutex_);
        // A failure of the engine outranks a failure of the model.
        if (failure_ == nullptr || model_failed()) {
            failure_ = failure;
            model_failed_.store(false);
            model_failed_at_.time = time_infinity;
        }
    }
    stop();
}

void ThreadedRank::fail_in_model(const EventKey& key, const std::string& message) {
    {
        const LockGuard lock(failure_mutex_);
        const bool is_first = model_failed() ? before(key, model_failed_at_) : failure_ == nullptr;
        if (!is_first) return;
        failure_ = std::make_exception_ptr(ModelError(message));
        model_failed_at_ = key;
        model_failed_.store(true, std::memory_order_release);
    }
    announce_model_failure();
}

EventKey ThreadedRank::model_failed_at() {
    const LockGuard lock(failure_mutex_);
    return model_failed_at_;
}

void ThreadedRank::stop() noexcept {
    failed_.store(true);
    sleepers_.wake_all();
}

void ThreadedRank::rethrow_failure() {
    const LockGuard lock(failure_mutex_);
    if (failure_ != nullptr) std::rethrow_exception(failure_);
}

}  // namespace nw
