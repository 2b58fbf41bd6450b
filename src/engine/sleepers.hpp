// SPDX-License-Identifier: Apache-2.0
// Blocks workers that have nothing to do, so that other threads can use their cores, and wakes
// them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include <numawarp/time.hpp>

#include "net/transport.hpp"
#include "numa/os/wake_signal.hpp"

namespace nw {

class Sleepers {
  public:
    using Time = std::chrono::milliseconds;

    // A sleeping worker wakes up after `longest` at the latest, because its turns also run the
    // watchdog. `network`: the transport, if worker 0 serves the network. Worker 0 then sleeps in
    // Transport::sleep(), and only if the transport can wake it.
    explicit Sleepers(std::uint32_t workers, Transport* network = nullptr, Time longest = Time(20))
        : network_(network), longest_(longest), sleepers_(workers) {}

    bool keeps_network(std::uint32_t w) const noexcept { return w == 0 && network_ != nullptr; }
    bool may_sleep(std::uint32_t w) const noexcept {
        return !keeps_network(w) || network_->can_sleep();
    }

    // Thread: worker w. Requires: may_sleep(w). Sleeps until another thread calls wake(w), or calls
    // wake_for() with a time before `horizon`. has_work() is described in WakeSignal. Returns false
    // if the worker woke up only because the time had elapsed.
    template <class HasWork>
    bool sleep(std::uint32_t w, VirtualTime horizon, HasWork&& has_work) {
        if (keeps_network(w)) return network_->sleep(has_work);
        Sleeper& sleeper = sleepers_[w];
        sleeper.horizon.store(horizon, std::memory_order_relaxed);  // before `asleep` is set
        return sleeper.wake_signal.sleep(longest_, has_work);
    }

    // Thread: any, after it has published its work for worker w.
    void wake(std::uint32_t w) {
        if (keeps_network(w))
            network_->wake();
        else
            sleepers_[w].wake_signal.raise();
    }
    // Wakes worker w for mail with this time, unless the worker may not execute it yet. In this
    // case, the GVT round that extends the worker's horizon wakes it. (A switch to another thread
    // and back takes as long as a hundred events.)
    void wake_for(std::uint32_t w, VirtualTime time) {
        if (keeps_network(w)) return wake(w);
        Sleeper& sleeper = sleepers_[w];
        if (sleeper.wake_signal.is_asleep() &&
            time < sleeper.horizon.load(std::memory_order_relaxed))
            wake(w);
    }
    void wake_all() {
        for (std::uint32_t w = 0; w < sleepers_.size(); ++w) wake(w);
    }

  private:
    struct alignas(64) Sleeper {
        WakeSignal wake_signal;
        std::atomic<VirtualTime> horizon{time_infinity};
    };
    Transport* network_;
    Time longest_;
    std::vector<Sleeper> sleepers_;
};

}  // namespace nw
