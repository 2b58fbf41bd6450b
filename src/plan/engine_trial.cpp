// SPDX-License-Identifier: Apache-2.0
#include "plan/engine_trial.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "util/number_text.hpp"

namespace nw {
namespace {

// The first judgment of the conservative engine comes after the time of a trial. Later judgments
// come after ten times this time, so that a short disturbance of the machine has less weight.
constexpr double later_period = 10;
// After the first comparison that the conservative engine has won, its next period is a hundred
// times as long as a trial. Each further comparison multiplies the period by a hundred. So all
// later comparisons together take about 1 % of the run.
constexpr double period_after_comparison = 100;

}  // namespace

void EngineTrial::begin() noexcept {
    is_leaving_ = false;
    first_.reset();
}

std::optional<EngineTrial::Rates> EngineTrial::end_period(const Reading& now, double seconds) {
    if (!first_) {
        first_ = now;
        return {};
    }
    const std::chrono::duration<double> took = now.at - first_->at;
    if (took.count() < seconds) return {};
    const Reading first = std::exchange(*first_, now);
    const std::chrono::duration<double> waited = now.waited - first.waited;
    return Rates{static_cast<double>(now.committed - first.committed) / took.count(),
                 waited / (took * workers_)};
}

bool EngineTrial::leaves_conservative(Clock::time_point now, std::uint64_t committed,
                                      std::chrono::nanoseconds waited, bool has_memory) {
    if (is_leaving_) return true;
    const std::optional<Rates> rates = end_period({now, committed, waited}, period_seconds_);
    if (!rates) return false;
    if (options_.alternates) return is_leaving_ = true;
    share_waited_ = rates->share_waited;
    const bool waits = rates->share_waited > options_.share_waited_max;
    is_memory_short_ = waits && !has_memory;
    is_leaving_ = waits && has_memory;
    if (is_leaving_) {
        conservative_speed_ = rates->events_per_second;
        timewarp_speed_.reset();
    }
    period_seconds_ = std::max(period_seconds_, options_.seconds * later_period);
    return is_leaving_;
}

bool EngineTrial::leaves_timewarp(Clock::time_point now, std::uint64_t committed) {
    if (is_over_ || is_leaving_) return is_leaving_;
    const std::optional<Rates> rates = end_period({now, committed, {}}, options_.seconds);
    if (!rates) return false;
    if (options_.alternates) return is_leaving_ = true;
    timewarp_speed_ = rates->events_per_second;
    is_over_ = *timewarp_speed_ >= conservative_speed_.value_or(0);
    is_leaving_ = !is_over_;
    after_comparison_seconds_ *= period_after_comparison;
    period_seconds_ = after_comparison_seconds_;
    return is_leaving_;
}

std::string EngineTrial::reason() const {
    if (options_.alternates) return "the engines alternate";
    // If Time Warp has lost the comparison, but the run ended before the engine was changed, the
    // speeds do not explain why Time Warp has executed the end of the run.
    if (timewarp_speed_ && !is_leaving_)
        return fmt::format(
            "in the last trial the conservative engine committed {} events/s, Time Warp {}",
            count_text(conservative_speed_.value_or(0)), count_text(*timewarp_speed_));
    if (!share_waited_ || conservative_speed_)
        return fmt::format("the run ended during the trial of {} s", options_.seconds);
    return fmt::format(
        "workers of the conservative engine waited for {} of the time{}",
        share_text(*share_waited_),
        is_memory_short_ ? "; there is too little memory for a trial of Time Warp" : "");
}

}  // namespace nw
