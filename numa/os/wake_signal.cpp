// SPDX-License-Identifier: Apache-2.0
#include "numa/os/wake_signal.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace nw {
namespace {

// Without FUTEX_PRIVATE_FLAG, because other processes raise the signal, too.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* until) noexcept {
    return syscall(SYS_futex, &word, operation, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

bool WakeSignal::wait(std::chrono::nanoseconds longest) noexcept {
    using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, like the clock of the futex
    const auto end = Clock::now() + longest;
    const auto since = end.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    const timespec until{.tv_sec = seconds.count(), .tv_nsec = (since - seconds).count()};
    while (is_asleep()) {
        futex(asleep_, FUTEX_WAIT_BITSET, 1, &until);
        if (is_asleep() && Clock::now() >= end) return false;
    }
    return true;
}

void WakeSignal::wake() noexcept { futex(asleep_, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace nw
