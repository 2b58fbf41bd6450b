// `--place interleave` and `--place weighted`: pages of state and of the engine on all nodes that have
// memory, evenly, or by the weights of BWAP (page_weights.hpp); mail, which is read once, stays with who
// reads it. For runs on some of a machine's nodes whose models read more memory than their own nodes give.
//
// By weights, proximity is tuned while the run goes on (decide/dwp_search.hpp), unless it is given: each
// window's figure is the committed events a second of CPU time, and windows count only when pagemigd has moved
// what the last step wanted. When workers come to other nodes, because CPUs were taken away or given back, weights
// are worked out and proximity is tuned anew.
//
// Enforced with any kernel: new pages by a policy for the whole region, where the kernel has one of these
// proportions, so that there is no mapping more; then page by page, by pagemigd. Interleaved pages stay where
// the kernel puts them. By weights it puts them in turns of as many pages as the weights say, which is far
// off where groups have few pages: there they go to the nodes of the map.
#pragma once

#include <memory>

#include "numa/place/placement_policy.hpp"

namespace nw {

std::unique_ptr<PlacementPolicy> make_interleave_policy(Os& os, const PolicyInputs& inputs);
std::unique_ptr<PlacementPolicy> make_weighted_policy(Os& os, const PolicyInputs& inputs);

}  // namespace nw
