// SPDX-License-Identifier: Apache-2.0
// `--place asymsched`: workers run on the nodes whose links serve the run's traffic best, according
// to AsymSched (decide/asymsched.hpp). If a run uses all nodes, its parts are assigned to nodes so
// that the heaviest traffic has the fastest links (decide/heaviest_links.hpp). Pages are local, and
// follow their workers.
//
// The paper reads hardware counters, which do not show traffic between CPUs. The engine counts
// every byte of mail instead. Migrations may take 5 % of the run's time. Their cost is estimated
// with the paper's 0.3 s per gigabyte until a migration of this run has been measured.
#pragma once

#include <memory>

#include "numa/place/placement_policy.hpp"

namespace nw {

std::unique_ptr<PlacementPolicy> make_asymsched_policy(Os& os, const PolicyInputs& inputs);

}  // namespace nw
