// SPDX-License-Identifier: Apache-2.0
#include "engine/inorder/window_rank.hpp"

#include "lp/group.hpp"
#include "plan/run_plan.hpp"
#include "util/locks.hpp"

namespace nw {

WindowRank::WindowRank(const RunPlan& plan, Transport& transport, MemorySource& memory,
                       OutputWriter& output, LiveProgress& progress,
                       const std::atomic<int>& stop_signal)
    : exchange_(transport),
      world_(plan, memory, output, &exchange_),
      progress_(progress),
      stop_signal_(stop_signal),
      rounds_(transport, plan.workers, first_window, true),
      sleepers_(plan.workers, transport.ranks() > 1 ? &transport : nullptr) {}

bool WindowRank::net_step() {
    if (exchange_.ranks() == 1) return false;  // the last worker to arrive does all the work
    if (!net_role_.try_lock()) return true;
    const LockGuard role(net_role_, std::adopt_lock);
    return step();
}

void WindowRank::receive_early() {
    if (!net_role_.try_lock()) return;
    const LockGuard role(net_role_, std::adopt_lock);
    exchange_.receive_early();
}

void WindowRank::finish_sending() {
    while (!broken() && exchange_.unsent() > 0) net_step();
}

void WindowRank::begin_reduction() {
    const LockGuard role(net_role_);
    step();
}

std::string WindowRank::waiting_for() {
    const LockGuard role(net_role_);
    return rounds_.waiting_for("its end has not been reached by worker");
}

bool WindowRank::step() {
    exchange_.send();
    exchange_.receive([this](std::span<const std::byte> batch) {
        rounds_.receive(epoch_of_batch(batch.data()));
        for_each_wire_event(batch.data(), batch.size(),
                            [this](const WireEvent& wire) { world_.deliver(wire); });
    });
    if (rounds_.step([](const WindowSums& sums, WindowSums& result) { result = sums; }))
        sleepers_.wake_all();
    return rounds_.is_receiving() || exchange_.unsent() > 0;
}

void WindowRank::sleep(std::uint32_t w, std::uint32_t seen) {
    sleepers_.sleep(w, time_infinity, [&] {
        const bool is_expecting = sleepers_.keeps_network(w) && net_step();
        return is_expecting || rounds_.done() != seen || broken();
    });
}

void WindowRank::fail(const EventKey& at) {
    bool models = false;
    try {
        throw;
    } catch (const ModelError&) {
        models = true;
    } catch (...) {
    }
    {
        const LockGuard lock(failure_mutex_);
        // A failure of the engine outranks a failure of the model.
        const bool outranks = failure_is_models_ && (!models || before(at, failed_at_));
        if (failure_ == nullptr || outranks) {
            failure_ = std::current_exception();
            failed_at_ = at;
            failure_is_models_ = models;
        }
        failed_.store(true, std::memory_order_release);
        if (!models) broken_.store(true);
    }
    if (!models) sleepers_.wake_all();
}

void WindowRank::give_up() noexcept {
    broken_.store(true);
    sleepers_.wake_all();
}

EventKey WindowRank::failed_at() {
    const LockGuard lock(failure_mutex_);
    return failed_at_;
}

void WindowRank::rethrow_failure() {
    const LockGuard lock(failure_mutex_);
    if (failure_ != nullptr) std::rethrow_exception(failure_);
}

}  // namespace nw
