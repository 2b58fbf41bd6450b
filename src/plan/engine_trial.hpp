// SPDX-License-Identifier: Apache-2.0
// --engine auto: the trial that decides between the conservative engine and Time Warp.
//
// The run begins with the conservative engine, whose events cost less. As long as its workers spend
// only a small share of the time waiting for the ends of windows, Time Warp is rarely faster, and
// the conservative engine continues. Otherwise Time Warp continues the run for the time of a trial.
// Then the engine that has committed more events per second continues. Events that are executed in
// the trial are a part of the run, so a trial costs only the time of changing to another engine.
//
// The conservative engine is observed until the end of the run, because the load can change. If
// Time Warp has won a comparison, it executes the rest of the run. It may have moved groups to
// other ranks, and the conservative engine requires each group on its first rank.
//
// Thread: the first worker of the first rank. It sends the decision to all workers with the next
// window or GVT round. Between two engines: the main thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "plan/config.hpp"

namespace nw {

class EngineTrial {
  public:
    using Clock = std::chrono::steady_clock;

    // `workers`: the number of workers of all ranks.
    EngineTrial(const TrialOptions& options, std::uint32_t workers)
        : options_(options),
          workers_(workers),
          period_seconds_(options.seconds),
          after_comparison_seconds_(options.seconds) {}

    // Called by the conservative engine, with totals over all workers of all ranks: committed
    // events, and the wall time in which workers waited. `has_memory`: there is memory for a trial
    // of Time Warp. Returns whether Time Warp is to continue the run.
    bool leaves_conservative(Clock::time_point now, std::uint64_t committed,
                             std::chrono::nanoseconds waited, bool has_memory);
    // Called by Time Warp. Returns whether the conservative engine is to continue the run.
    bool leaves_timewarp(Clock::time_point now, std::uint64_t committed);

    // Whether Time Warp executes the rest of the run.
    bool is_over() const noexcept { return is_over_; }

    // Called after one engine has stopped, before the other engine continues the run. Thread: the
    // main thread, on each rank.
    void begin() noexcept;

    // Why the present engine has executed the end of the run. Requires: the first rank.
    std::string reason() const;

  private:
    struct Reading {
        Clock::time_point at;
        std::uint64_t committed = 0;
        std::chrono::nanoseconds waited{};
    };
    struct Rates {
        double events_per_second = 0;
        double share_waited = 0;
    };
    // If the period is over, returns its rates and begins the next period.
    std::optional<Rates> end_period(const Reading& now, double seconds);

    const TrialOptions options_;
    const std::uint32_t workers_;
    std::optional<Reading> first_;  // at the beginning of the present period
    // Wall time after which the conservative engine is judged. Time Warp is judged after
    // options_.seconds.
    double period_seconds_;
    double after_comparison_seconds_;  // the value of period_seconds_ after a comparison
    bool is_over_ = false;
    // The present engine is to stop, but continues until all workers stop.
    bool is_leaving_ = false;
    std::optional<double> share_waited_;  // in the conservative engine; null: not judged
    bool is_memory_short_ = false;        // therefore there was no trial of Time Warp
    // Committed events per second, when both engines were compared; null: there was no comparison.
    std::optional<double> conservative_speed_;
    std::optional<double> timewarp_speed_;
};

}  // namespace nw
