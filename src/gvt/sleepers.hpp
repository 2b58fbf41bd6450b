// Workers that have nothing to do and give their cores away until another one has something for them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include <numawarp/time.hpp>

#include "net/transport.hpp"
#include "numa/os/bell.hpp"

namespace nw {

class Sleepers {
  public:
    using Time = std::chrono::milliseconds;

    // A sleeper wakes up by itself after `longest`, since the watchdog speaks from its turns. `network`: worker 0 keeps
    // it, and sleeps only as long as nothing can come there (Transport::sleep).
    explicit Sleepers(std::uint32_t workers, Transport* network = nullptr, Time longest = Time(20))
        : network_(network), longest_(longest), beds_(workers) {}

    bool keeps_network(std::uint32_t w) const noexcept { return w == 0 && network_ != nullptr; }
    bool may_sleep(std::uint32_t w) const noexcept {
        return !keeps_network(w) || network_->can_sleep();
    }

    // Thread: worker w, which may sleep. Until wake(w), or wake_for() an event before `horizon`; has_work() as in
    // Bell. Returns whether there is a reason to be awake but the time.
    template <class HasWork>
    bool sleep(std::uint32_t w, VirtualTime horizon, HasWork&& has_work) {
        if (keeps_network(w)) return network_->sleep(has_work);
        Bed& bed = beds_[w];
        bed.horizon.store(horizon, std::memory_order_relaxed);  // before it is seen asleep
        return bed.bell.sleep(longest_, has_work);
    }

    // Thread: any, after it has made known what worker w is to see.
    void wake(std::uint32_t w) {
        if (keeps_network(w))
            network_->wake();
        else
            beds_[w].bell.ring();
    }
    // The same, when there is mail for it. What it may not execute yet is no reason to wake it: it will be
    // woken with the new GVT before. (A switch to another thread and back takes as long as a hundred events.)
    // Where several threads send to one group at once, it may also sleep until then.
    void wake_for(std::uint32_t w, VirtualTime time) {
        if (keeps_network(w)) return wake(w);
        Bed& bed = beds_[w];
        if (bed.bell.is_asleep() && time < bed.horizon.load(std::memory_order_relaxed)) wake(w);
    }
    void wake_all() {
        for (std::uint32_t w = 0; w < beds_.size(); ++w) wake(w);
    }

  private:
    struct alignas(64) Bed {
        Bell bell;
        std::atomic<VirtualTime> horizon{time_infinity};
    };
    Transport* network_;
    Time longest_;
    std::vector<Bed> beds_;
};

}  // namespace nw
