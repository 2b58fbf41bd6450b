// SPDX-License-Identifier: Apache-2.0
// Wall time and the calling thread's CPU time since construction.
#pragma once

#include <chrono>
#include <ctime>

namespace nw {

class Stopwatch {
  public:
    double wall_seconds() const noexcept {
        return std::chrono::duration<double>(Clock::now() - wall_).count();
    }
    // The time from the start of `earlier` to the start of this object.
    double seconds_after(const Stopwatch& earlier) const noexcept {
        return std::chrono::duration<double>(wall_ - earlier.wall_).count();
    }
    // Requires: called on the thread that created the object.
    double thread_cpu_seconds() const noexcept { return thread_cpu() - cpu_; }

  private:
    using Clock = std::chrono::steady_clock;
    static double thread_cpu() noexcept {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }

    Clock::time_point wall_ = Clock::now();
    double cpu_ = thread_cpu();
};

}  // namespace nw
