// SPDX-License-Identifier: Apache-2.0
#include "engine/inorder/window_rank.hpp"

#include "lp/group.hpp"
#include "plan/run_plan.hpp"
#include "util/locks.hpp"

namespace nw {

WindowRank::WindowRank(const RunPlan& plan, Transport& transport, MemorySource& memory,
                       OutputWriter& output, LiveProgress& progress,
                       const std::atomic<int>& stop_signal)
    : ThreadedRank(plan, transport, progress, stop_signal, false),
      world_(plan, memory, output, &exchange_),
      rounds_(transport, plan.workers, first_window, true) {}

bool WindowRank::net_step() {
    if (exchange_.ranks() == 1) return false;  // the last worker to arrive does all the work
    if (!net_role_.try_lock()) return true;
    const LockGuard role(net_role_, std::adopt_lock);
    return step();
}

void WindowRank::finish_sending() {
    while (!failed() && exchange_.unsent() > 0) net_step();
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

bool WindowRank::has_work(std::uint32_t w, std::uint32_t seen) {
    const bool is_expecting = sleepers_.keeps_network(w) && net_step();
    return is_expecting || rounds_.done() != seen || failed();
}

}  // namespace nw
