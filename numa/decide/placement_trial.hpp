// Whether pages on all nodes make a run faster than pages beside their workers, tried while it runs
// (`--place auto`): local, spread, and, if that was faster, local again, because a run changes by itself. Spread is
// better if it is faster than both by more than the margin.
//
// A state machine: who feeds it brings the pages to where side() wants them, measures windows of equal
// length, and feeds their figures.
#pragma once

#include <optional>

#include "numa/decide/window_median.hpp"

namespace nw {

class PlacementTrial {
  public:
    enum class Side { local, spread };
    static constexpr double margin = 0.02;

    // Where pages should be: at the end, where they are better.
    Side side() const noexcept { return side_; }
    bool is_done() const noexcept { return done_; }
    // Spread over the better one of local; 0 until both have been measured.
    double ratio() const noexcept { return local_ > 0 ? spread_ / local_ : 0; }

    // A window's figure; more is better. Returns whether side() is another one now.
    bool feed(double speed);

  private:
    bool go_to(Side side, bool done) noexcept;

    Side side_ = Side::local;
    bool done_ = false;
    bool is_again_ = false;  // local for the second time
    double local_ = 0;
    double spread_ = 0;
    WindowMedian median_;
};

}  // namespace nw
