// ROOT-Sim's topologies, as both of their interfaces call them. Who a neighbour is, and how many random numbers it
// takes to find one, is as there.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "rootsim/include/rootsim/topologies.h"

struct topology {
    struct Link {
        std::uint64_t to;
        double probability;
        void* data = nullptr;  // the model's
    };

    topology_geometry geometry;
    std::uint64_t regions;
    std::uint64_t height;
    std::uint64_t width;
    std::uint64_t owner;                   // the LP whose handler made it; or all_lps
    std::vector<std::vector<Link>> links;  // of a graph: by region

    static constexpr std::uint64_t all_lps = UINT64_MAX;
};

namespace nw::rootsim {

// In the order in which neighbours are told. Empty where all neighbours are found by chance.
std::span<const topology_direction> directions_of(topology_geometry geometry);
// Requires: a direction of directions_of().
std::uint64_t neighbour(const topology& of, std::uint64_t from, topology_direction direction);

// What GetReceiver(), CountDirections() and IsNeighbor() say.
std::uint64_t get_receiver(const topology& of, std::uint64_t from, topology_direction direction);
std::uint64_t count_directions(const topology& of, std::uint64_t from);
bool is_neighbour(topology& of, std::uint64_t from, std::uint64_t to);
// Null: there is none. Requires: a graph that has a region `from`.
topology::Link* find_link(topology& of, std::uint64_t from, std::uint64_t to);

// Before a change: in a handler, which may be undone, an LP changes only what is its own. Throws ModelError.
void demand_own(const char* function, const topology& of);

// After a line on standard error.
template <class Value>
Value refuse_topology(const char* function, const char* line, Value value) {
    std::fprintf(stderr, "numawarp: %s(): %s\n", function, line);
    return value;
}

}  // namespace nw::rootsim
