// SPDX-License-Identifier: Apache-2.0
#include "gvt/window_control.hpp"

#include <algorithm>

namespace nw {
namespace {

// Minimum number of executed events in a judgment.
constexpr std::uint64_t judged_events = 256;

// Minimum number of events in a window: two per LP, but at least window_events_min and at most
// window_events_max (two batches of a worker). With 8 LPs and no lookahead, a minimum of 256 events
// is many times the available work: twenty events were rolled back for each committed event. With a
// minimum of 16 events for all models, three workers beside two other programs used less of the
// cores: 0.32 of a fair share instead of 0.50 (docs/decisions/0021).
constexpr double window_events_max = 256;
constexpr double window_events_min = 16;

// Number of committed events after which the density of events is estimated. The first commits give
// a wrong density: safe events are committed early, and the events between them in virtual time are
// committed later.
constexpr std::uint64_t density_events = 64;

// Maximum number of uncommitted events: the larger of two products. The first product is
// worker_events_most times the number of workers. A worker executes this number of events in ten
// milliseconds, at 6.5 million events per second. With small states, the histories of these events
// take about 10 MiB. The second product is lp_events_most times the number of LPs. The histories of
// the LPs then take about as much memory as the LPs themselves.
constexpr double worker_events_most = 65'536;
constexpr double lp_events_most = 2;

constexpr double efficiency_low = 0.96;
constexpr double efficiency_high = 0.98;
constexpr double growth = 1.25;
constexpr double used_share = 0.5;  // of a width; this share must be used before the width grows

constexpr double smoothing = 0.1;

constexpr std::uint32_t generations_max = 1u << 17;

double least_window_events(std::uint32_t lps) noexcept {
    return std::clamp(2.0 * lps, window_events_min, window_events_max);
}

// Events that were executed and are neither final nor undone.
std::uint64_t uncommitted(const Contribution& sums) noexcept {
    return sums.executed - sums.rolled_back - sums.committed;
}

double efficiency(std::uint64_t executed, double rolled_back) noexcept {
    return std::max(0.0, 1 - rolled_back / static_cast<double>(executed));
}

}  // namespace

WindowControl::WindowControl(bool adaptive, VirtualTime width, VirtualTime lookahead,
                             std::uint32_t lps, std::uint64_t workers)
    : adaptive_(adaptive),
      width_(width),
      lookahead_(lookahead),
      least_events_(least_window_events(lps)),
      most_events_(
          std::max(worker_events_most * static_cast<double>(workers), lp_events_most * lps)),
      trials_(lookahead > 0) {}

void WindowControl::update(VirtualTime gvt, const Contribution& sums) noexcept {
    if (gvt == time_infinity) return;
    advance_mean_ += smoothing * (gvt - gvt_ - advance_mean_);
    committed_mean_ +=
        smoothing * (static_cast<double>(sums.committed - committed_) - committed_mean_);
    committed_ = sums.committed;
    used_ = std::max(used_, sums.lead - gvt_);
    held_ = std::max(held_, uncommitted(sums));
    gvt_ = gvt;
    if (generations_span_.executed(sums) >= judged_events) {
        set_generations_for(efficiency(generations_span_.executed(sums),
                                       static_cast<double>(generations_span_.rolled_back(sums))));
        generations_span_ = Span(sums);
    }
    if (!adaptive_) return;
    if (trials_.update(sums.clock_ns, sums.committed, gvt, sums.lead)) begin_span(sums);
    if (!trials_.within_lookahead() && width_span_.executed(sums) >= judged_events)
        adapt_width(gvt, sums);
}

void WindowControl::begin_span(const Contribution& sums) noexcept {
    width_span_ = Span(sums);
    uncommitted_ = uncommitted(sums);
    judged_from_ = sums.lead;
    used_ = 0;
    held_ = 0;
}

void WindowControl::adapt_width(VirtualTime gvt, const Contribution& sums) noexcept {
    const std::uint64_t executed = width_span_.executed(sums);
    auto undone = static_cast<double>(width_span_.rolled_back(sums));
    if (gvt < judged_from_) {
        // Some of the undone events may have been executed under another width. Their number is at
        // most the number of events that were uncommitted when this width was set.
        undone -= static_cast<double>(uncommitted_);
        if (undone < 0.5 * static_cast<double>(executed)) return;
    }
    set_width_for(efficiency(executed, undone));
    begin_span(sums);
}

void WindowControl::set_generations_for(double efficiency) noexcept {
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

void WindowControl::set_width_for(double efficiency) noexcept {
    // There is no window until the first judgment. The first width is the largest distance of a
    // worker from GVT.
    if (width_ == time_infinity) width_ = used_;
    const double room = most_events_ / std::max(1.0, static_cast<double>(held_));
    if (efficiency < efficiency_low) {
        width_ *= std::max(0.25, efficiency * efficiency);
    } else if (room < 1) {
        width_ *= std::max(0.25, room);
    } else if (efficiency > efficiency_high && used_ >= used_share * width_ && room >= growth) {
        width_ *= growth;
    }
    // A width of 0 must not stay, because a multiplication does not change it. (A width of 0 is
    // allowed for some time, because events at GVT are always executed.)
    const VirtualTime least = committed_ >= density_events
                                  ? least_events_ * advance_mean_ / committed_mean_
                                  : advance_mean_;
    width_ = std::max(width_, least);
}

}  // namespace nw
