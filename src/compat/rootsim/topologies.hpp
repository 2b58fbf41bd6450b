// SPDX-License-Identifier: Apache-2.0
// ROOT-Sim's topologies, for both interfaces (topology.cpp and library_topology.cpp). Two things
// are the same as in ROOT-Sim: the neighbors of each region, and the number of random numbers that
// are drawn to find a neighbor.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "compat/rootsim/include/rootsim/topologies.h"

struct topology {
    struct Link {
        std::uint64_t to;
        double probability;
        void* data = nullptr;  // for the model
    };

    topology_geometry geometry;
    std::uint64_t regions;
    std::uint64_t height;
    std::uint64_t width;
    std::uint64_t owner;                   // the LP whose handler created the topology, or all_lps
    std::vector<std::vector<Link>> links;  // by region; empty if the geometry is not a graph

    static constexpr std::uint64_t all_lps = UINT64_MAX;
};

namespace nw::rootsim {

// The directions of the neighbors, in the order of GetAllReceivers(). Empty if DIRECTION_RANDOM is
// the only direction.
std::span<const topology_direction> directions_of(topology_geometry geometry);
// The neighbor, or INVALID_DIRECTION. Requires: a direction of directions_of().
std::uint64_t neighbor(const topology& of, std::uint64_t from, topology_direction direction);

// Implement GetReceiver(), CountDirections() and IsNeighbor().
std::uint64_t get_receiver(const topology& of, std::uint64_t from, topology_direction direction);
std::uint64_t count_directions(const topology& of, std::uint64_t from);
bool is_neighbor(topology& of, std::uint64_t from, std::uint64_t to);
// The link, or null if there is no such link. Requires: a graph that has a region `from`.
topology::Link* find_link(topology& of, std::uint64_t from, std::uint64_t to);

// Called before each change of a topology. Throws ModelError if a handler changes a topology that
// the handler's LP has not created, because a rollback would not restore the topology.
void demand_own(const char* function, const topology& of);

// Prints a line to standard error and returns `value`.
template <class Value>
Value refuse_topology(const char* function, const char* line, Value value) {
    std::fprintf(stderr, "numawarp: %s(): %s\n", function, line);
    return value;
}

}  // namespace nw::rootsim
