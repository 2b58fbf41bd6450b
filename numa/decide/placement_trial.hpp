// SPDX-License-Identifier: Apache-2.0
// A trial during the run (`--place auto`) that compares two sides: pages on the nodes of their
// workers (local), and pages on all nodes (spread). The trial measures local, then spread. If
// spread was faster, it measures local again, because the speed of a run also changes for other
// reasons. Spread is better if its speed exceeds both measurements of local by more than the
// margin.
//
// A state machine. The caller moves the pages as side() requires, measures windows of equal length,
// and feeds their values.
#pragma once

#include <optional>

#include "numa/decide/window_median.hpp"

namespace nw {

class PlacementTrial {
  public:
    enum class Side { local, spread };
    static constexpr double margin = 0.02;

    // Where pages should be now; after the trial, the better side.
    Side side() const noexcept { return side_; }
    bool is_done() const noexcept { return done_; }
    // Speed with spread pages divided by the higher speed with local pages; 0 until both are
    // measured.
    double ratio() const noexcept { return local_ > 0 ? spread_ / local_ : 0; }

    // Adds the value of one window; higher is better. Returns whether side() has changed.
    bool feed(double speed);

  private:
    bool go_to(Side side, bool done) noexcept;

    Side side_ = Side::local;
    bool done_ = false;
    bool is_again_ = false;  // in the second measurement of local
    double local_ = 0;
    double spread_ = 0;
    WindowMedian median_;
};

}  // namespace nw
