// SPDX-License-Identifier: Apache-2.0
#include "gvt/window_trials.hpp"

#include <algorithm>

namespace nw {
namespace {

// Minimum duration of a trial: two time slices of a kernel that shares a core between two threads.
// A shorter trial would measure which thread had the core.
constexpr std::uint64_t trial_ns = 10'000'000;
// A trial continues until this number of events is committed, but at most for ten times trial_ns.
constexpr std::uint64_t trial_events = 256;

// The winner of a trial is kept for stay_trials times the duration of the trial. This time doubles
// with each further trial that the same window wins, at most wins_max times.
constexpr std::uint64_t stay_trials = 16;
constexpr std::uint32_t wins_max = 4;

// Maximum duration of the settling phase, in units of trial_ns. Events that were executed far ahead
// under a wide window become final only when GVT reaches them, and GVT advances in steps of the
// lookahead.
constexpr std::uint64_t settling_trials = 10;

// A smaller gain is not worth the change, and may be chance.
constexpr double gain_min = 1.02;

}  // namespace

void WindowTrials::begin(Phase phase, std::uint64_t ns, std::uint64_t committed) noexcept {
    phase_ = phase;
    since_ = ns;
    committed_ = committed;
}

double WindowTrials::rate(std::uint64_t ns, std::uint64_t committed) const noexcept {
    return static_cast<double>(committed - committed_) / static_cast<double>(ns - since_);
}

bool WindowTrials::update(std::uint64_t ns, std::uint64_t committed, VirtualTime gvt,
                          VirtualTime lead) noexcept {
    if (!is_on_) return false;
    const std::uint64_t passed = ns - since_;
    const bool is_measured =
        passed >= trial_ns && (committed - committed_ >= trial_events || passed >= 10 * trial_ns);
    switch (phase_) {
        case Phase::starting:
            begin(Phase::measuring_here, ns, committed);
            return false;
        case Phase::staying:
            if (passed >= stay_ns_) begin(Phase::measuring_here, ns, committed);
            return false;
        case Phase::measuring_here:
            if (!is_measured) return false;
            rate_here_ = rate(ns, committed);
            left_at_ = ns;
            begin(Phase::settling, ns, committed);
            within_lookahead_ = !within_lookahead_;
            settled_at_ = lead;
            return true;
        case Phase::settling:
            if (gvt >= settled_at_ || passed >= settling_trials * trial_ns)
                begin(Phase::measuring_there, ns, committed);
            return false;
        case Phase::measuring_there:
            break;
    }
    if (!is_measured) return false;
    const bool is_better = rate(ns, committed) >= gain_min * rate_here_;
    begin(Phase::staying, ns, committed);
    const std::uint64_t away = ns - left_at_;
    if (is_better && wins_ == 0) {
        stay_ns_ = stay_trials * away;
        return false;
    }
    // A window that has won before is replaced only if it loses twice in a row: another program may
    // have used the core during one trial.
    wins_ = is_better ? 0 : std::min(wins_ + 1, wins_max);
    stay_ns_ = is_better ? trial_ns : (stay_trials * away) << wins_;
    within_lookahead_ = !within_lookahead_;
    return true;
}

}  // namespace nw
