// SPDX-License-Identifier: Apache-2.0
#include "results/statistics/run_history.hpp"

#include <algorithm>
#include <tuple>

namespace nw {

void RunHistory::begin(Clock::time_point now, const RunSample& first, const SavedHistory* earlier) {
    start_ = now;
    if (earlier != nullptr) samples_.resume(earlier->samples, earlier->interval_seconds);
    first_ = first;
    keep(now, first);
}

void RunHistory::add(Clock::time_point now, RunSample sample) {
    sample.seconds = first_.seconds + std::chrono::duration<double>(now - start_).count();
    sample.committed_events += first_.committed_events;
    sample.executed_events += first_.executed_events;
    sample.rolled_back_events += first_.rolled_back_events;
    sample.gvt_rounds += first_.gvt_rounds;
    keep(now, sample);
}

void RunHistory::keep(Clock::time_point now, const RunSample& sample) {
    samples_.add(sample);
    next_ = now + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(samples_.interval_seconds()));
}

void end_history(std::vector<RunSample>& samples, RunSample last) {
    if (!samples.empty()) {
        last.resident_bytes = samples.back().resident_bytes;
        last.window = samples.back().window;
    }
    // Samples use another clock, and may have been taken during the last commits. Remove samples
    // that are not older than the final totals.
    while (!samples.empty() && samples.back().seconds >= last.seconds) samples.pop_back();
    samples.push_back(last);
}

void keep_worst(std::vector<RolledBackLp>& lps, const RolledBackLp& lp) {
    constexpr std::size_t lps_max = 16;
    // LPs with equal counts are ordered by number, so that equal runs have equal lists.
    const auto worse = [](const RolledBackLp& a, const RolledBackLp& b) {
        return std::tie(b.rolled_back_events, a.lp) < std::tie(a.rolled_back_events, b.lp);
    };
    if (lp.rolled_back_events == 0) return;
    if (lps.size() == lps_max && !worse(lp, lps.back())) return;
    lps.insert(std::upper_bound(lps.begin(), lps.end(), lp, worse), lp);
    if (lps.size() > lps_max) lps.pop_back();
}

}  // namespace nw
