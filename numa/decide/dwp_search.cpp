#include "numa/decide/dwp_search.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace nw {

DwpSearch::DwpSearch(double worker_share) : worker_share_(worker_share) {
    NW_CHECK(worker_share > 0);
    done_ = worker_share >= 1;
}

// The last step is shorter.
double DwpSearch::dwp_at(std::size_t step) const noexcept {
    if (worker_share_ >= 1) return 0;
    return std::min(1.0, static_cast<double>(step) * step_share / (1 - worker_share_));
}

bool DwpSearch::go_to(std::size_t step) noexcept {
    const bool changes = dwp_at(step) != dwp();
    step_ = step;
    was_worse_ = false;
    warm_ = false;
    return changes;
}

bool DwpSearch::feed(double speed) {
    if (done_) return false;
    if (!warm_) {
        warm_ = true;
        return false;
    }
    speeds_[measured_++] = speed;
    if (measured_ < windows) return false;
    measured_ = 0;
    const auto middle = speeds_.begin() + windows / 2;
    std::nth_element(speeds_.begin(), middle, speeds_.end());
    if (*middle < best_ * (1 - worse_share)) {
        done_ = was_worse_;
        was_worse_ = true;
        return done_ && go_to(best_step_);
    }
    if (*middle >= best_) {
        best_ = *middle;
        best_step_ = step_;
    }
    done_ = dwp() >= 1;
    return go_to(done_ ? best_step_ : step_ + 1);
}

}  // namespace nw
