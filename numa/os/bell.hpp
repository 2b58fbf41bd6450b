// Somebody who sleeps until somebody else has something for him, perhaps in another process: the bell may lie in memory
// that they share.
//
// No ring is lost: who sleeps says so and then looks once more for something to do; who has something says so and
// then looks whether the other sleeps. For that all four are sequentially consistent: the two accesses
// here, and those to what there is to do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace nw {

class Bell {
  public:
    // Until ring(), or for `longest`; unless has_work() says, now that others see it asleep, that they have come before.
    // Returns whether there is a reason to be awake but the time.
    template <class HasWork>
    bool sleep(std::chrono::nanoseconds longest, HasWork&& has_work) {
        asleep_.store(1);
        const bool is_called = has_work() || wait(longest);
        asleep_.store(0);
        return is_called;
    }
    bool is_asleep() const noexcept { return asleep_.load() != 0; }

    // Thread: any, after it has made known what there is to do.
    void ring() noexcept {
        if (is_asleep() && asleep_.exchange(0) != 0) wake();
    }

  private:
    bool wait(std::chrono::nanoseconds longest) noexcept;
    void wake() noexcept;

    std::atomic<std::uint32_t> asleep_{0};
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the kernel reads it");
};

}  // namespace nw
