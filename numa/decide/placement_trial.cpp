// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/placement_trial.hpp"

#include <algorithm>

namespace nw {

bool PlacementTrial::feed(double speed) {
    if (done_) return false;
    const std::optional<double> median = median_.feed(speed);
    if (!median) return false;
    const auto spread_is_better = [this] { return spread_ > local_ * (1 + margin); };
    if (side_ == Side::spread) {
        spread_ = *median;
        is_again_ = true;
        return go_to(Side::local, !spread_is_better());
    }
    local_ = std::max(local_, *median);
    if (!is_again_) return go_to(Side::spread, false);
    return go_to(spread_is_better() ? Side::spread : Side::local, true);
}

bool PlacementTrial::go_to(Side side, bool done) noexcept {
    const bool changes = side != side_;
    side_ = side;
    done_ = done;
    median_.restart();
    return changes;
}

}  // namespace nw
