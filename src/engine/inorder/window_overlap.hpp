// SPDX-License-Identifier: Apache-2.0
// Computes which share of a window is left to execute when the reduction begins. The share is so
// large that no worker waits for the result. With a share s, there are 1 / (1 − s) times as many
// reductions, so s is not larger than necessary.
//
// There is no overlap in two cases. If a window takes hardly longer than a reduction, twice as many
// reductions cost more than waiting for each reduction. If a reduction is short, most of its time
// is work of the ranks, and an overlap cannot hide work.
//
// Thread: the first worker of the first rank. All ranks use the result.
#pragma once

#include <algorithm>
#include <chrono>

#include <numawarp/time.hpp>

namespace nw {

class WindowOverlap {
  public:
    using Clock = std::chrono::steady_clock;

    static constexpr double share_max = 0.5;

    void on_cut(Clock::time_point now) noexcept { cut_at_ = now; }
    // The worker has executed everything that it may execute.
    void on_idle(Clock::time_point now) noexcept {
        if (idle_since_ == Clock::time_point{}) idle_since_ = now;
    }
    // `advance`: how far this result moves the earliest time, in lookaheads.
    void on_result(Clock::time_point now, double advance) noexcept {
        const bool idle = idle_since_ != Clock::time_point{};
        const Clock::time_point executed_until = idle ? idle_since_ : now;
        const double seconds = seconds_of(executed_until - learnt_at_);
        if (learnt_at_ != Clock::time_point{} && advance > 0) {
            smooth(window_, seconds / std::min(advance, 1.0));
            smooth(reduction_, seconds_of(now - cut_at_));
        }
        learnt_at_ = now;
        idle_since_ = {};
    }

    double share() const noexcept {
        if (reduction_ < seconds_worth_hiding || reduction_ > windows_that_wait * window_) return 0;
        return std::min(share_max, margin * reduction_ / window_);
    }

  private:
    // With s = 1/2, two reductions replace one. If a reduction takes more than this part of a
    // window, there is no overlap: two reductions then take about as long as the window and one
    // reduction.
    static constexpr double windows_that_wait = 0.75;
    // Measured with PHOLD. Two ranks on two cores of one machine, with reductions of some 10 µs,
    // lost up to 6 % of their speed to additional reductions and gained nothing (1,024 × 16,
    // lookahead 0.1). On two hosts with a delay of 0.5 to 2 ms between them, the run took 14 to
    // 18 % less time (65,536 × 4, lookahead 1). The value lies between these cases and was not
    // measured itself.
    static constexpr double seconds_worth_hiding = 50e-6;
    // The margin is needed because a worker reads the result only between two batches of events,
    // and because the time of reductions varies.
    static constexpr double margin = 1.5;

    static double seconds_of(Clock::duration duration) noexcept {
        return std::chrono::duration<double>(duration).count();
    }
    static void smooth(double& mean, double value) noexcept {
        mean += (value - mean) / (mean == 0 ? 1 : 16);
    }

    Clock::time_point learnt_at_{};
    Clock::time_point cut_at_{};
    Clock::time_point idle_since_{};  // default value: not idle
    double window_ = 0;               // seconds of execution per lookahead
    double reduction_ = 0;            // seconds from the cut to the result
};

}  // namespace nw
