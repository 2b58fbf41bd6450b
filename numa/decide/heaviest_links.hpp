// SPDX-License-Identifier: Apache-2.0
// Assigns the parts of a run to nodes so that the heaviest traffic uses the fastest links. A part
// is the workers of one node, and the run has one part on every node. AsymSched does not cover this
// case: it has no choice if a cluster fills the machine.
//
// Two values are minimized: first the largest ratio traffic / bandwidth of all pairs of parts, then
// the sum of these ratios. This is the bottleneck form of the quadratic assignment problem
// (Koopmans and Beckmann, "Assignment problems and the location of economic activities", 1957;
// Burkard, Dell'Amico, Martello, "Assignment Problems", 2009). With up to 8 parts, all placements
// that may be better are tried. With more parts, pairs of parts are exchanged as long as an
// exchange is an improvement.
//
// Pure functions. Thread: any.
#pragma once

#include <cstddef>
#include <vector>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

inline constexpr std::size_t parts_all_tried = 8;

// The cost of a placement of parts, in bytes of traffic per MB/s.
struct LinkLoad {
    double largest = 0;
    double sum = 0;
    auto operator<=>(const LinkLoad&) const = default;
};

// traffic[a][b]: bytes that part a sends to part b, and so writes to the memory of part b;
// node_of[a]: the node of part a. Requires: no two parts on one node.
LinkLoad link_load(const BandwidthMatrix& machine, const std::vector<std::vector<double>>& traffic,
                   const std::vector<std::size_t>& node_of);

// Returns the new node of each part. The set of nodes does not change. If several placements are
// equally good, the present placement has priority; with up to 8 parts, then the first placement in
// the order of node numbers.
std::vector<std::size_t> place_parts(const BandwidthMatrix& machine,
                                     const std::vector<std::vector<double>>& traffic,
                                     const std::vector<std::size_t>& node_of);

}  // namespace nw
