// SPDX-License-Identifier: Apache-2.0
// An event on which one thread waits and which any thread signals, also a thread of another
// process: a WakeSignal may be in memory that processes share.
//
// No signal is lost. The waiting thread stores that it is asleep, then checks once more for work.
// The signaling thread publishes its work, then checks whether the other thread is asleep. These
// four accesses must be sequentially consistent: the two accesses to `asleep_` here, and the
// caller's two accesses to the work.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace nw {

class WakeSignal {
  public:
    // Sleeps until raise(), at most for `longest`. Returns at once if has_work() returns true.
    // has_work() is called after other threads can see that this thread is asleep. Returns false if
    // the time has elapsed without raise() and without work.
    template <class HasWork>
    bool sleep(std::chrono::nanoseconds longest, HasWork&& has_work) {
        asleep_.store(1);
        const bool is_called = has_work() || wait(longest);
        asleep_.store(0);
        return is_called;
    }
    bool is_asleep() const noexcept { return asleep_.load() != 0; }

    // Wakes the sleeping thread, if there is one. Thread: any. Requires: the caller has published
    // its work.
    void raise() noexcept {
        if (is_asleep() && asleep_.exchange(0) != 0) wake();
    }

  private:
    bool wait(std::chrono::nanoseconds longest) noexcept;
    void wake() noexcept;

    std::atomic<std::uint32_t> asleep_{0};
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the kernel reads it");
};

}  // namespace nw
