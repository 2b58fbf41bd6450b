// `--place auto`: `weighted` where bandwidth is what a run waits for, else `local`. Only a run on some of the
// machine's nodes has anything to choose; what has workers on all nodes, or on one of one, stays local.
//
// What tells: misses of the last level of caches, where the machine counts them and its bandwidths are known in
// MB/s, against what the workers' nodes give. Elsewhere a trial (decide/placement_trial.hpp) by committed events a
// second of CPU time, for which pages are moved there and, unless it was worth it, back.
#pragma once

#include <memory>

#include "numa/place/placement_policy.hpp"

namespace nw {

std::unique_ptr<PlacementPolicy> make_auto_policy(Os& os, const PolicyInputs& inputs);

}  // namespace nw
