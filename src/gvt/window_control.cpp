#include "gvt/window_control.hpp"

#include <algorithm>

namespace nw {
namespace {

// A judgement needs this many executed events to mean something.
constexpr std::uint64_t judged_events = 256;

// A window holds about so many events at least: two batches of a worker, but no more than two for each LP. With
// 8 LPs and no lookahead 256 are many times what there is to do at once, and twenty events were rolled back
// for each that stayed; and where workers wait for cores, 16 starve those with much to do.
constexpr double window_events_max = 256;
constexpr double window_events_min = 16;

// How dense events lie is not known from the first few that are committed: those that are safe are before all that
// lie between them.
constexpr std::uint64_t density_events = 64;

// And so many at most for each worker, what it executes in ten milliseconds at 6.5 million a second: with small states some
// 10 MiB of past. But two for each LP, whose past then takes about what the LPs themselves take.
constexpr double worker_events_most = 65'536;
constexpr double lp_events_most = 2;

constexpr double efficiency_low = 0.96;
constexpr double efficiency_high = 0.98;
constexpr double growth = 1.25;
constexpr double used_share = 0.5;  // of a width that may grow

constexpr double smoothing = 0.1;

constexpr std::uint32_t generations_max = 1u << 17;

double least_window_events(std::uint32_t lps) noexcept {
    return std::clamp(2.0 * lps, window_events_min, window_events_max);
}

// Executed and neither final nor undone.
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
        steer_generations(efficiency(generations_span_.executed(sums),
                                     static_cast<double>(generations_span_.rolled_back(sums))));
        generations_span_ = Span(sums);
    }
    if (!adaptive_) return;
    if (trials_.update(sums.clock_ns, sums.committed, gvt, sums.lead)) begin_judging(sums);
    if (!trials_.within_lookahead() && width_span_.executed(sums) >= judged_events)
        judge_width(gvt, sums);
}

void WindowControl::begin_judging(const Contribution& sums) noexcept {
    width_span_ = Span(sums);
    uncommitted_ = uncommitted(sums);
    judged_from_ = sums.lead;
    used_ = 0;
    held_ = 0;
}

void WindowControl::judge_width(VirtualTime gvt, const Contribution& sums) noexcept {
    const std::uint64_t executed = width_span_.executed(sums);
    auto undone = static_cast<double>(width_span_.rolled_back(sums));
    if (gvt < judged_from_) {
        // What is rolled back now may have been executed under another width, but no more of it than there
        // was.
        undone -= static_cast<double>(uncommitted_);
        if (undone < 0.5 * static_cast<double>(executed)) return;
    }
    steer_width(efficiency(executed, undone));
    begin_judging(sums);
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

void WindowControl::steer_width(double efficiency) noexcept {
    // Until the first judgement there is no window; it starts from how far the leaders have been.
    if (width_ == time_infinity) width_ = used_;
    const double room = most_events_ / std::max(1.0, static_cast<double>(held_));
    if (efficiency < efficiency_low) {
        width_ *= std::max(0.25, efficiency * efficiency);
    } else if (room < 1) {
        width_ *= std::max(0.25, room);
    } else if (efficiency > efficiency_high && used_ >= used_share * width_ && room >= growth) {
        width_ *= growth;
    }
    // A width of 0 is legal, events at GVT always run, and must be left again.
    const VirtualTime least = committed_ >= density_events
                                  ? least_events_ * advance_mean_ / committed_mean_
                                  : advance_mean_;
    width_ = std::max(width_, least);
}

}  // namespace nw
