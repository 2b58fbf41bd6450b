// Workers that have nothing to do and give their cores away until another one has something for them.
//
// No wake is lost: who sleeps says so and then looks once more for something to do; who has something says
// so and then looks whether they sleep. For that, all four are sequentially consistent: the two accesses
// here, and, outside, those to the ready list, the rounds of GVT and the failure.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nw {

class Sleepers {
  public:
    // A sleeper wakes up by itself after `longest`, since the watchdog speaks from its turns.
    explicit Sleepers(std::uint32_t workers,
                      std::chrono::milliseconds longest = std::chrono::milliseconds(20))
        : longest_(longest), beds_(workers) {}

    // Thread: worker w. Sleeps until wake(w), unless has_work() says, now that others see it asleep, that
    // they have come before. Returns whether there is a reason to be awake but the time.
    template <class HasWork>
    bool sleep(std::uint32_t w, HasWork&& has_work) {
        Bed& bed = beds_[w];
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
    void wake_all() {
        for (std::uint32_t w = 0; w < beds_.size(); ++w) wake(w);
    }

  private:
    struct alignas(64) Bed {
        std::atomic<bool> asleep{false};
        std::mutex mutex;
        std::condition_variable woken;
    };
    std::chrono::milliseconds longest_;
    std::vector<Bed> beds_;
};

}  // namespace nw
