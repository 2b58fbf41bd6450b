// SPDX-License-Identifier: Apache-2.0
// One thread sleeps until another thread wakes it. The other thread may belong to another process,
// because a WakeSignal may be in memory that processes share.
//
// No signal is lost. The waiting thread stores that it is asleep, then checks once more for work.
// The signaling thread publishes its work, then checks whether the other thread is asleep. These
// four accesses must be sequentially consistent: the two accesses to `asleep_` in this class, and
// the callers' two accesses to the work.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace nw {

class WakeSignal {
  public:
    // Sleeps until raise() is called, at most for `longest`. Does not sleep if has_work() returns
    // true. has_work() is called after `asleep_` has been set. Returns false if the time has
    // elapsed, raise() was not called, and has_work() has returned false.
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
