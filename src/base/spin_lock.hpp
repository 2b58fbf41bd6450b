// A lock for critical sections of some dozens of instructions, in a byte, so that each of 100,000
// groups can have several. Who waits for long gives its core away: on a machine with more threads
// than cores the holder may need just that core to get out.
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
        constexpr int spins_max = 1000;  // some ten microseconds. Unmeasured guess.
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
