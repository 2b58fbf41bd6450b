// SPDX-License-Identifier: Apache-2.0
// The functions for topologies before core 3.0.0: the topology is the last parameter.
#include "compat/rootsim/include/rootsim/topology.h"

#include "compat/rootsim/topologies.hpp"

using namespace nw::rootsim;

std::uint64_t GetReceiver(std::uint64_t from, topology* of, topology_direction direction) {
    return get_receiver(*of, from, direction);
}
std::uint64_t CountDirections(std::uint64_t from, topology* of) {
    return count_directions(*of, from);
}
bool IsNeighbor(std::uint64_t from, std::uint64_t to, topology* of) {
    return is_neighbor(*of, from, to);
}
