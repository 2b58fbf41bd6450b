// SPDX-License-Identifier: Apache-2.0
#include "numa/place/placement_policy.hpp"

namespace nw {

const PlacementChoice local_placement{
    .word = "local", .help = "on the node of their worker", .make = make_policy<LocalPolicy>};

}  // namespace nw
