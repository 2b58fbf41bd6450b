#include "gvt/window_control.hpp"

#include <algorithm>

namespace nw {
namespace {

// A decision needs this many executed events to mean something. Unmeasured guess.
constexpr std::uint64_t decision_events = 256;

// W stays below this many rounds' mean advance of GVT. Unmeasured guess.
constexpr double advances_max = 8;

constexpr double smoothing = 0.1;

constexpr std::uint32_t generations_max = 1u << 20;

}  // namespace

void WindowControl::update(VirtualTime gvt, const Contribution& sums) noexcept {
    if (gvt == time_infinity) return;
    const VirtualTime advance = gvt - gvt_;
    advance_mean_ += smoothing * (advance - advance_mean_);
    gvt_ = gvt;
    const std::uint64_t executed = sums.executed - executed_;
    if (executed < decision_events) return;
    const auto undone = static_cast<double>(sums.rolled_back - rolled_back_);
    const double useful = static_cast<double>(executed) - undone;
    executed_ = sums.executed;
    rolled_back_ = sums.rolled_back;

    const double efficiency = std::max(0.0, useful / static_cast<double>(executed));
    steer_generations(efficiency);
    if (adaptive_) steer_width(gvt, efficiency, useful, sums);
}

void WindowControl::steer_generations(double efficiency) noexcept {
    if (efficiency < 0.33) {
        generations_ = std::max(1u, generations_ / 4);
    } else if (efficiency < 0.66) {
        generations_ = std::max(1u, generations_ / 2);
    } else if (efficiency > 0.95) {
        generations_ = std::min(generations_max, generations_ * 2);
    } else {
        generations_ = std::min(generations_max, generations_ + 1);
    }
}

void WindowControl::steer_width(VirtualTime gvt, double efficiency, double useful,
                                const Contribution& sums) noexcept {
    // Until the first decision there is no window; it starts from how far the leaders are.
    const VirtualTime width =
        width_ == time_infinity ? std::max(sums.lead - gvt, advance_mean_) : width_;
    const VirtualTime ceiling = advances_max * advance_mean_;
    if (efficiency < 0.33) {
        width_ = width / 4;
    } else if (efficiency < 0.66) {
        width_ = width / 2;
    } else if (efficiency > 0.95) {
        // A width of 0 is legal, events at GVT always run, and must be left again.
        width_ = std::min(std::max(width * 2, advance_mean_), std::max(width, ceiling));
    } else {
        if (useful < useful_last_) climb_ = 1 / climb_;
        width_ = width * climb_;
    }
    useful_last_ = useful;
    width_ = std::max(width_, advance_mean_ / advances_max);
}

}  // namespace nw
