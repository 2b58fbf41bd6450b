// SPDX-License-Identifier: Apache-2.0
#include "numa/place/placement_policy.hpp"

#include "numa/place/asymsched_policy.hpp"
#include "numa/place/auto_policy.hpp"
#include "numa/place/spread_policy.hpp"

namespace nw {

std::unique_ptr<PlacementPolicy> make_policy(Os& os, const PolicyInputs& inputs) {
    switch (inputs.mode) {
        case PlaceMode::interleave:
            return make_interleave_policy(os, inputs);
        case PlaceMode::weighted:
            return make_weighted_policy(os, inputs);
        case PlaceMode::asymsched:
            return make_asymsched_policy(os, inputs);
        case PlaceMode::automatic:
            return make_auto_policy(os, inputs);
        case PlaceMode::local:
            break;
    }
    return std::make_unique<LocalPolicy>();
}

}  // namespace nw
