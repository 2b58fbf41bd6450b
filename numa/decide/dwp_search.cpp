// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/dwp_search.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace nw {

DwpSearch::DwpSearch(double worker_share) : worker_share_(worker_share) {
    NW_CHECK(worker_share > 0);
    done_ = worker_share >= 1;
}

// The last step is shorter than the others: it ends at 1.
double DwpSearch::dwp_at(std::size_t step) const noexcept {
    if (worker_share_ >= 1) return 0;
    return std::min(1.0, static_cast<double>(step) * step_share / (1 - worker_share_));
}

bool DwpSearch::go_to(std::size_t step) noexcept {
    const bool changes = dwp_at(step) != dwp();
    step_ = step;
    was_worse_ = false;
    median_.restart();
    return changes;
}

bool DwpSearch::feed(double speed) {
    if (done_) return false;
    const std::optional<double> median = median_.feed(speed);
    if (!median) return false;
    if (*median < best_ * (1 - worse_share)) {
        done_ = was_worse_;
        was_worse_ = true;
        return done_ && go_to(best_step_);
    }
    if (*median >= best_) {
        best_ = *median;
        best_step_ = step_;
    }
    done_ = dwp() >= 1;
    return go_to(done_ ? best_step_ : step_ + 1);
}

}  // namespace nw
