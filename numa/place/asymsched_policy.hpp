// `--place asymsched`: workers on the nodes whose links serve the run's traffic best, as AsymSched decides
// (decide/asymsched.hpp); where a run fills the machine, its parts on the nodes so that the heaviest traffic
// has the best links (decide/heaviest_links.hpp). Pages are local, and follow their workers.
//
// The paper reads hardware counters, which do not see what goes from CPU to CPU; the engine knows every
// byte of mail. What it does is paid from 5 % of the run's time, at the paper's 0.3 s a gigabyte until a
// migration of this run has shown what it takes.
#pragma once

#include <memory>

#include "numa/place/placement_policy.hpp"

namespace nw {

std::unique_ptr<PlacementPolicy> make_asymsched_policy(Os& os, const PolicyInputs& inputs);

}  // namespace nw
