// Which part of a run should be on which node, where every node has one: the heaviest traffic gets the
// best links. Beyond AsymSched, which has nothing to choose where a cluster fills the machine.
//
// The largest traffic/bandwidth over all pairs of parts is made smallest, then their sum: the bottleneck
// form of the quadratic assignment problem (Koopmans and Beckmann, "Assignment problems and the location
// of economic activities", 1957; Burkard, Dell'Amico, Martello, "Assignment Problems", 2009). Up to 8
// parts all ways that may be better are tried; beyond, two parts change places as long as that helps.
//
// Pure functions. Thread: any.
#pragma once

#include <cstddef>
#include <vector>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

inline constexpr std::size_t parts_all_tried = 8;

// What a way of placing parts costs, in bytes of traffic for each MB/s.
struct LinkLoad {
    double largest = 0;
    double sum = 0;
    auto operator<=>(const LinkLoad&) const = default;
};

// traffic[a][b]: bytes that part a sends to part b, that is, writes into its memory; node_of[a]: where
// part a is. Requires: no two parts on one node.
LinkLoad link_load(const BandwidthMatrix& machine, const std::vector<std::vector<double>>& traffic,
                   const std::vector<std::size_t>& node_of);

// The node of each part, out of those that parts have now. Of ways that are equally good, that which
// comes first in order of node numbers, but for the present one, which stays.
std::vector<std::size_t> place_parts(const BandwidthMatrix& machine,
                                     const std::vector<std::vector<double>>& traffic,
                                     const std::vector<std::size_t>& node_of);

}  // namespace nw
