// SPDX-License-Identifier: Apache-2.0
// `--place auto`: `weighted` if the run is limited by memory bandwidth, else `local`. There is a
// choice only if workers run on some, but not all, of the machine's nodes. In other cases, and on a
// machine with one node, the mode is `local`.
//
// The decision uses misses of the last-level cache, compared with the bandwidth of the workers'
// nodes, if the machine counts misses and its bandwidths are known in MB/s. Otherwise a trial
// (decide/placement_trial.hpp) measures committed events per second of CPU time. The trial moves
// pages to all nodes, and moves them back unless the run was faster.
#pragma once

#include <memory>

#include "numa/place/placement_policy.hpp"

namespace nw {

std::unique_ptr<PlacementPolicy> make_auto_policy(Os& os, const PolicyInputs& inputs);

}  // namespace nw
