#include "plan/engine_trial.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.hpp"

namespace nw {
namespace {

// The conservative engine is judged again after ten times the time of the first judgement, so that a
// short disturbance of the machine has less weight.
constexpr double later_period = 10;
// A comparison that the conservative engine has won is repeated after a hundred times the time that
// preceded it, so that comparisons take at most about 1 % of the run.
constexpr double period_after_comparison = 100;

}  // namespace

void EngineTrial::begin(EngineKind engine) noexcept {
    is_leaving_ = false;
    engine_ = engine;
    first_.reset();
}

bool EngineTrial::is_to_leave(Clock::time_point now, std::uint64_t committed,
                              std::chrono::nanoseconds waited) {
    if (is_over_ || is_leaving_) return is_leaving_;
    const Reading reading{now, committed, waited};
    if (!first_) {
        first_ = reading;
        return false;
    }
    const std::chrono::duration<double> took = now - first_->at;
    const bool is_conservative = engine_ == EngineKind::conservative;
    const double period = is_conservative ? period_seconds_ : options_.seconds;
    if (took.count() < period) return false;
    const double speed = static_cast<double>(committed - first_->committed) / took.count();
    const std::chrono::duration<double> waited_now = waited - first_->waited;
    if (options_.alternates)
        is_leaving_ = true;
    else if (is_conservative)
        is_leaving_ = judge_conservative(speed, waited_now / (took * workers_));
    else
        is_leaving_ = judge_timewarp(speed);
    first_ = reading;
    return is_leaving_;
}

bool EngineTrial::judge_conservative(double events_per_second, double share_waited) {
    share_waited_ = share_waited;
    if (share_waited <= options_.share_waited_max) {
        period_seconds_ = std::max(period_seconds_, options_.seconds * later_period);
        return false;
    }
    conservative_speed_ = events_per_second;
    return true;
}

bool EngineTrial::judge_timewarp(double events_per_second) {
    timewarp_speed_ = events_per_second;
    is_over_ = *timewarp_speed_ >= conservative_speed_.value_or(0);
    period_seconds_ *= period_after_comparison;
    return !is_over_;
}

std::string EngineTrial::reason() const {
    if (options_.alternates) return "the engines alternate";
    if (timewarp_speed_)
        return fmt::format(
            "in the last trial the conservative engine committed {} events/s, Time Warp {}",
            count_text(conservative_speed_.value_or(0)), count_text(*timewarp_speed_));
    if (!share_waited_ || conservative_speed_)
        return fmt::format("the run ended during the trial of {} s", options_.seconds);
    return fmt::format("workers of the conservative engine waited for {} of the time",
                       share_text(*share_waited_));
}

}  // namespace nw
