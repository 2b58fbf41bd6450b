// Workers that have nothing to do and give their cores away until another one has something for them.
//
// No wake is lost that a round of GVT needs: who sleeps says so and then looks once more for something to do; who has something says
// so and then looks whether they sleep. For that, all four are sequentially consistent: the two accesses
// here, and, outside, those to the ready list, the rounds of GVT and the failure.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include <numawarp/time.hpp>

namespace nw {

class Sleepers {
  public:
    // A sleeper wakes up by itself after `longest`, since the watchdog speaks from its turns.
    explicit Sleepers(std::uint32_t workers,
                      std::chrono::milliseconds longest = std::chrono::milliseconds(20))
        : longest_(longest), beds_(workers) {}

    // Thread: worker w. Sleeps until wake(w), or wake_for() an event before `horizon`, unless has_work() says,
    // now that others see it asleep, that they have come before. Returns whether there is a reason to be
    // awake but the time.
    template <class HasWork>
    bool sleep(std::uint32_t w, VirtualTime horizon, HasWork&& has_work) {
        Bed& bed = beds_[w];
        bed.horizon.store(horizon, std::memory_order_relaxed);  // before the store to `asleep`
        bed.asleep.store(true);
        bool is_called = has_work();
        if (!is_called) {
            std::unique_lock lock(bed.mutex);
            is_called = bed.woken.wait_for(lock, longest_, [&] { return !bed.asleep.load(); });
        }
        bed.asleep.store(false);
        return is_called;
    }

    // Thread: any, after it has made known what worker w is to see.
    void wake(std::uint32_t w) {
        Bed& bed = beds_[w];
        if (!bed.asleep.load()) return;
        {
            const std::lock_guard lock(bed.mutex);
            bed.asleep.store(false);
        }
        bed.woken.notify_one();
    }
    // The same, when there is mail for it. What it may not execute yet is no reason to wake it: it will be
    // woken with the new GVT before. (A switch to another thread and back takes as long as a hundred events.)
    // Where several threads send to one group at once, it may also sleep until then.
    void wake_for(std::uint32_t w, VirtualTime time) {
        Bed& bed = beds_[w];
        if (bed.asleep.load() && time < bed.horizon.load(std::memory_order_relaxed)) wake(w);
    }
    void wake_all() {
        for (std::uint32_t w = 0; w < beds_.size(); ++w) wake(w);
    }

  private:
    struct alignas(64) Bed {
        std::atomic<bool> asleep{false};
        std::atomic<VirtualTime> horizon{time_infinity};
        std::mutex mutex;
        std::condition_variable woken;
    };
    std::chrono::milliseconds longest_;
    std::vector<Bed> beds_;
};

}  // namespace nw
