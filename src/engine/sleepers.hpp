// SPDX-License-Identifier: Apache-2.0
// Blocks threads whose workers have nothing to do, so that other threads can use the cores. Wakes
// the blocked threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include <numawarp/time.hpp>

#include "engine/carriers.hpp"
#include "net/transport.hpp"
#include "numa/os/wake_signal.hpp"

namespace nw {

class Sleepers {
  public:
    using Time = std::chrono::milliseconds;

    // A sleeping thread wakes up after `longest` at the latest, because the turns of its workers
    // also run the watchdog. `network`: the transport, if worker 0 serves the network. In this case
    // thread 0, which never lends worker 0, sleeps in Transport::sleep(), but only if the transport
    // can wake the thread.
    explicit Sleepers(const Carriers& carriers, Transport* network = nullptr,
                      Time longest = Time(20))
        : carriers_(carriers),
          network_(network),
          longest_(longest),
          sleepers_(carriers.workers()) {}

    bool keeps_network(std::uint32_t thread) const noexcept {
        return thread == 0 && network_ != nullptr;
    }
    bool may_sleep(std::uint32_t thread) const noexcept {
        return !keeps_network(thread) || network_->can_sleep();
    }

    // Thread: the thread that takes the turns of worker w, before the thread sleeps. Mail at or
    // after the horizon does not wake the thread.
    void set_horizon(std::uint32_t w, VirtualTime horizon) noexcept {
        sleepers_[w].horizon.store(horizon, std::memory_order_relaxed);  // before `asleep` is set
    }
    // Requires: may_sleep(thread), and set_horizon() for each worker whose turns the thread takes.
    // Sleeps until another thread calls wake() for one of these workers, or wake_for() with a time
    // before the worker's horizon. has_work() is described in WakeSignal. Returns false if the
    // thread woke up only because `longest` had elapsed.
    template <class HasWork>
    bool sleep(std::uint32_t thread, HasWork&& has_work) {
        if (keeps_network(thread)) return network_->sleep(has_work);
        return sleepers_[thread].wake_signal.sleep(longest_, has_work);
    }

    // Thread: any thread that has published work for worker w.
    void wake(std::uint32_t w) { wake_thread(carriers_.thread_of(w)); }
    // Wakes the thread of worker w for mail with this time, if the worker may already execute the
    // mail. Otherwise the GVT round that extends the worker's horizon wakes the thread. (A switch
    // to another thread and back takes as long as a hundred events.)
    void wake_for(std::uint32_t w, VirtualTime time) {
        const std::uint32_t thread = carriers_.thread_of(w);
        if (keeps_network(thread)) return wake_thread(thread);
        if (sleepers_[thread].wake_signal.is_asleep() &&
            time < sleepers_[w].horizon.load(std::memory_order_relaxed))
            wake_thread(thread);
    }
    void wake_thread(std::uint32_t thread) {
        if (keeps_network(thread))
            network_->wake();
        else
            sleepers_[thread].wake_signal.raise();
    }
    void wake_all() {
        for (std::uint32_t thread = 0; thread < sleepers_.size(); ++thread) wake_thread(thread);
    }

  private:
    struct alignas(64) Sleeper {
        WakeSignal wake_signal;                           // of the thread with this index
        std::atomic<VirtualTime> horizon{time_infinity};  // of the worker with this index
    };
    const Carriers& carriers_;
    Transport* network_;
    Time longest_;
    std::vector<Sleeper> sleepers_;
};

}  // namespace nw
