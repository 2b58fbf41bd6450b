// The search for the data-to-worker proximity at which a run is fastest, while it runs: the DWP tuner of
// "Bandwidth-Aware Page Placement in NUMA Systems" (Gureya et al., IPDPS 2020). It climbs from 0 in
// steps of a tenth of all pages, as long as that does not make the run slower. The paper's measure is
// stalled cycles; here it is committed events a second of CPU time, which is what a user wants, and
// needs no counter of the machine's.
//
// A state machine: who feeds it brings the pages to where dwp() wants them, measures windows of equal
// length, and feeds their figures. A step that is worse than the best one is measured again before it is
// taken back.
#pragma once

#include <cstddef>

#include "numa/decide/window_median.hpp"

namespace nw {

class DwpSearch {
  public:
    static constexpr double step_share = 0.1;     // of all pages
    static constexpr double worse_share = 0.001;  // than the best: as good as noise

    // The share of the pages that canonical weights give to the workers' nodes, in (0, 1].
    explicit DwpSearch(double worker_share);

    double dwp() const noexcept { return dwp_at(step_); }
    bool is_done() const noexcept { return done_; }

    // A window's figure, of any unit; more is better. Returns whether dwp() is another one now.
    bool feed(double speed);

  private:
    double dwp_at(std::size_t step) const noexcept;
    bool go_to(std::size_t step) noexcept;

    double worker_share_;
    std::size_t step_ = 0;
    std::size_t best_step_ = 0;
    double best_ = 0;
    bool was_worse_ = false;  // at this step, once
    bool done_ = false;
    WindowMedian median_;
};

}  // namespace nw
