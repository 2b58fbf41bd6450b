// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections of some dozens of instructions. It takes one byte, because there may
// be 100,000 groups with several locks each. A running holder needs at most about 3 µs, including a
// page fault. A thread that waits longer yields its core: with more threads than cores, the holder
// may be waiting for this core, which takes milliseconds without the yield.
#pragma once

#include <atomic>
#include <thread>

namespace nw {

inline void spin_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

class SpinLock {
  public:
    void lock() noexcept {
        while (!try_lock()) wait();
    }
    // The acquire pairs with the release in unlock().
    bool try_lock() noexcept { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

  private:
    void wait() const noexcept {
        constexpr int spins_max = 1000;  // 3 to 45 µs: a pause takes 3 to 45 ns
        for (int spins = 0; locked_.load(std::memory_order_relaxed); ++spins) {
            if (spins < spins_max)
                spin_pause();
            else
                std::this_thread::yield();
        }
    }

    std::atomic<bool> locked_{false};
};

}  // namespace nw
