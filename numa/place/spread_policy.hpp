// SPDX-License-Identifier: Apache-2.0
// `--place interleave` and `--place weighted`: pages of states and of the engine are spread over
// all nodes that have memory, evenly or by the weights of BWAP (page_weights.hpp). Mail, which is
// read once, stays on the node of the reading worker. These policies are for runs on some of a
// machine's nodes whose models read more memory than these nodes provide.
//
// With weights, proximity is tuned during the run (decide/dwp_search.hpp), unless the user gives
// it. The value of a window is the committed events per second of CPU time. A window counts only if
// pagemigd has moved the pages of the last step. If workers are moved to other nodes, because CPUs
// were taken away or returned, the weights are computed and proximity is tuned again.
//
// Both policies work with any kernel. If the kernel supports the wanted proportions, new pages are
// placed by a policy for the whole region, which needs no additional mapping. pagemigd then moves
// misplaced pages. It leaves interleaved pages where the kernel has put them. With weights, the
// kernel puts sequences of pages on each node, whose lengths are the weights. For groups with few
// pages the resulting shares are far from the weights, so pagemigd moves pages to the nodes of the
// map.
#pragma once

#include <memory>

#include "numa/place/placement_policy.hpp"

namespace nw {

std::unique_ptr<PlacementPolicy> make_interleave_policy(Os& os, const PolicyInputs& inputs);
std::unique_ptr<PlacementPolicy> make_weighted_policy(Os& os, const PolicyInputs& inputs);

}  // namespace nw
