// A barrier for threads that meet every few microseconds: who waits looks again and again before it sleeps.
// std::barrier sleeps almost at once, and two threads on two cores that meet there took 50 µs each time.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/spin_lock.hpp"

namespace nw {

class SpinBarrier {
  public:
    // `patience`: looks before a thread sleeps; few, where others need its core to arrive at all.
    SpinBarrier(std::uint32_t threads, std::uint32_t patience) noexcept
        : threads_(threads), patience_(patience) {}

    // What a thread did before is seen by all after.
    void arrive_and_wait() noexcept {
        const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.store(phase + 1, std::memory_order_release);
            phase_.notify_all();
            return;
        }
        for (std::uint32_t looks = 0; looks < patience_; ++looks) {
            if (phase_.load(std::memory_order_acquire) != phase) return;
            spin_pause();
        }
        phase_.wait(phase, std::memory_order_acquire);
    }

  private:
    const std::uint32_t threads_;
    const std::uint32_t patience_;
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> phase_{0};
};

}  // namespace nw
