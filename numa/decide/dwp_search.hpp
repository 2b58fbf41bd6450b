// SPDX-License-Identifier: Apache-2.0
// Searches, during a run, for the data-to-worker proximity (DWP) at which the run is fastest. This
// is the DWP tuner of "Bandwidth-Aware Page Placement in NUMA Systems" (Gureya et al., IPDPS 2020).
// The search increases proximity from 0 as long as the run does not become slower. Each step moves
// a tenth of all pages. The paper measures stalled cycles. This search measures committed events
// per second of CPU time. This is the speed that matters to the user, and its measurement needs no
// hardware counter.
//
// A state machine. The caller moves the pages as dwp() requires, measures windows of equal length,
// and feeds their values. A step that is worse than the best one is measured a second time before
// the search returns to the best step.
#pragma once

#include <cstddef>

#include "numa/decide/window_median.hpp"

namespace nw {

class DwpSearch {
  public:
    static constexpr double step_share = 0.1;  // of all pages
    // A step is worse if it is slower than the best step by more than this share. A smaller
    // difference is noise.
    static constexpr double worse_share = 0.001;

    // worker_share: the share of the pages that the canonical weights give to the workers' nodes,
    // in (0, 1].
    explicit DwpSearch(double worker_share);

    double dwp() const noexcept { return dwp_at(step_); }
    bool is_done() const noexcept { return done_; }

    // Adds the value of one window, in any unit; higher is better. Returns whether dwp() has
    // changed.
    bool feed(double speed);

  private:
    double dwp_at(std::size_t step) const noexcept;
    bool go_to(std::size_t step) noexcept;

    double worker_share_;
    std::size_t step_ = 0;
    std::size_t best_step_ = 0;
    double best_ = 0;
    bool was_worse_ = false;  // this step was worse in its first measurement
    bool done_ = false;
    WindowMedian median_;
};

}  // namespace nw
