#include "plan/engine_trial.hpp"

#include <fmt/format.h>

#include "base/number_text.hpp"

namespace nw {

void EngineTrial::begin(EngineKind engine) noexcept {
    // The conservative engine comes back only if Time Warp was slower.
    is_over_ = engine == EngineKind::conservative && !options_.alternates;
    is_leaving_ = false;
    engine_ = engine;
    first_.reset();
}

bool EngineTrial::is_to_leave(Clock::time_point now, std::uint64_t committed,
                              std::chrono::nanoseconds waited) {
    if (is_over_) return false;
    if (!first_) {
        first_ = {now, committed, waited};
        return false;
    }
    const std::chrono::duration<double> took = now - first_->at;
    if (took.count() < options_.seconds) return false;
    const std::chrono::duration<double> waited_now = waited - first_->waited;
    is_leaving_ = options_.alternates ||
                  decide(static_cast<double>(committed - first_->committed) / took.count(),
                         waited_now / (took * workers_));
    return is_leaving_;
}

bool EngineTrial::decide(double events_per_second, double share_waited) {
    is_over_ = true;
    if (engine_ == EngineKind::conservative) {
        share_waited_ = share_waited;
        if (share_waited <= options_.share_waited_max) return false;
        conservative_speed_ = events_per_second;
        return true;
    }
    timewarp_speed_ = events_per_second;
    return *timewarp_speed_ < conservative_speed_.value_or(0);
}

std::string EngineTrial::reason() const {
    if (options_.alternates) return "the engines alternate";
    if (!is_over_ || is_leaving_)
        return fmt::format("the run ended during the trial of {} s", options_.seconds);
    if (!timewarp_speed_)
        return fmt::format("workers of the conservative engine waited for {} of the time",
                           share_text(share_waited_));
    return fmt::format("in the trial the conservative engine committed {} events/s, Time Warp {}",
                       count_text(conservative_speed_.value_or(0)), count_text(*timewarp_speed_));
}

}  // namespace nw
