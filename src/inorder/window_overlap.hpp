// Which share of a window is left to execute when the reduction begins, so that nobody waits for its result. A
// share s costs 1 / (1 − s) times as many reductions; so it is as large as it must be. Where a window takes
// hardly longer than a reduction, twice as many of these cost more than waiting for each does; and a short
// reduction is work of the ranks rather than waiting. Then there is no overlap.
//
// Thread: the first worker's of the first rank; all ranks go by what it says.
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
    // Everything that may be executed is executed.
    void on_idle(Clock::time_point now) noexcept {
        if (idle_since_ == Clock::time_point{}) idle_since_ = now;
    }
    // `advance`: of the earliest time with this result, in lookaheads.
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
    // With s = 1/2 two reductions take the place of one: beyond this they last longer than the window
    // and one reduction do.
    static constexpr double windows_that_wait = 0.75;
    // Two ranks on two cores of one machine, with reductions of some 10 µs, lost up to 6 % of their speed to
    // more of these (PHOLD 1,024 × 16, lookahead 0.1) and gained nothing; on two hosts with 0.5 to 2 ms of delay
    // between them they took 14 to 18 % less time (65,536 × 4, lookahead 1). Between the two: a guess.
    static constexpr double seconds_worth_hiding = 50e-6;
    // The result is noticed between two batches of events, and reductions differ.
    static constexpr double margin = 1.5;

    static double seconds_of(Clock::duration duration) noexcept {
        return std::chrono::duration<double>(duration).count();
    }
    static void smooth(double& mean, double value) noexcept {
        mean += (value - mean) / (mean == 0 ? 1 : 16);
    }

    Clock::time_point learnt_at_{};
    Clock::time_point cut_at_{};
    Clock::time_point idle_since_{};  // none: not idle
    double window_ = 0;               // seconds of execution that a lookahead takes
    double reduction_ = 0;            // seconds from the cut to the result
};

}  // namespace nw
