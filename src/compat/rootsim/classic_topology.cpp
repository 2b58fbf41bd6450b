// SPDX-License-Identifier: Apache-2.0
// The topology of classic ROOT-Sim (version 2), without obstacles. Two things are the same as in
// ROOT-Sim: the neighbors of each region, and the number of random numbers that are drawn to find a
// neighbor.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compat/rootsim/classic.hpp"
#include "compat/rootsim/classic_include/ROOT-Sim.h"

namespace nw::rootsim {
namespace {

// Does not change in the run.
struct Layout {
    unsigned regions = 0;
    unsigned directions = 0;
    unsigned edge = 0;  // regions along an edge, in the three grids
} layout;

_topology_geometry_t geometry() { return topology_settings.default_geometry; }

bool is_grid() {
    return geometry() == TOPOLOGY_HEXAGON || geometry() == TOPOLOGY_SQUARE ||
           geometry() == TOPOLOGY_TORUS;
}

unsigned directions() {
    switch (geometry()) {
        case TOPOLOGY_HEXAGON:
            return 6;
        case TOPOLOGY_SQUARE:
        case TOPOLOGY_TORUS:
            return 4;
        case TOPOLOGY_BIDRING:
        case TOPOLOGY_STAR:
            return 2;
        case TOPOLOGY_RING:
            return 1;
        case TOPOLOGY_GRAPH:
            return layout.regions - 1;
    }
    throw SetupError("topology_settings.default_geometry: unknown geometry");
}

// The neighbor in a grid, or DIRECTION_INVALID. Coordinates below zero wrap to large numbers.
unsigned neighbor_in_grid(unsigned from, unsigned direction) {
    const unsigned edge = layout.edge;
    unsigned y = from / edge;
    unsigned x = from % edge;
    const unsigned shift = y & 1;  // odd rows of hexagons are half a cell further east
    const bool is_hexagon = geometry() == TOPOLOGY_HEXAGON;
    if (direction >= layout.directions) return DIRECTION_INVALID;
    if (direction == DIRECTION_E) {
        ++x;
    } else if (direction == DIRECTION_W) {
        --x;
    } else if (!is_hexagon) {
        y += direction == DIRECTION_S ? 1U : ~0U;
    } else {
        const bool is_south = direction == DIRECTION_SE || direction == DIRECTION_SW;
        const bool is_east = direction == DIRECTION_SE || direction == DIRECTION_NE;
        y += is_south ? 1U : ~0U;
        x += is_east ? shift : shift - 1;
    }
    if (geometry() == TOPOLOGY_TORUS) return (y + edge) % edge * edge + (x + edge) % edge;
    return x < edge && y < edge ? y * edge + x : unsigned{DIRECTION_INVALID};
}

unsigned neighbor(unsigned from, unsigned direction) {
    const unsigned regions = layout.regions;
    switch (geometry()) {
        case TOPOLOGY_GRAPH:
            return direction < regions ? direction : unsigned{DIRECTION_INVALID};
        case TOPOLOGY_STAR:
            if (from != 0) return direction == 0 ? 0 : unsigned{DIRECTION_INVALID};
            return direction < regions - 1 ? direction + 1 : unsigned{DIRECTION_INVALID};
        case TOPOLOGY_RING:
        case TOPOLOGY_BIDRING:
            if (direction >= layout.directions) return DIRECTION_INVALID;
            return (from + (direction == DIRECTION_E ? 1 : regions - 1)) % regions;
        default:
            return neighbor_in_grid(from, direction);
    }
}

void demand_region(const char* function, unsigned region) {
    if (&topology_settings == nullptr)
        refuse_call(fmt::format("{}(): the model has no topology_settings", function));
    if (layout.regions == 0) called_outside(function);
    if (region >= layout.regions)
        refuse_call(fmt::format("{}({}): there is no such region; allowed: below {}", function,
                                region, layout.regions));
}

// The regions of a shortest path without `from`. Empty if there is no path.
std::vector<unsigned> shortest_way(unsigned from, unsigned to) {
    std::vector<unsigned> before(layout.regions, unsigned{DIRECTION_INVALID});
    std::vector<unsigned> reached{from};
    for (std::size_t i = 0; i < reached.size() && before[to] == DIRECTION_INVALID; ++i) {
        for (unsigned direction = 0; direction < layout.directions; ++direction) {
            const unsigned next = neighbor(reached[i], direction);
            if (next == DIRECTION_INVALID || next == from || before[next] != DIRECTION_INVALID)
                continue;
            before[next] = reached[i];
            reached.push_back(next);
        }
    }
    std::vector<unsigned> way;
    if (before[to] == DIRECTION_INVALID) return way;
    for (unsigned at = to; at != from; at = before[at]) way.push_back(at);
    std::reverse(way.begin(), way.end());
    return way;
}

}  // namespace

void lay_out_topology(std::uint32_t lps) {
    if (&topology_settings == nullptr) return;
    if (topology_settings.topology_path != nullptr || topology_settings.write_enabled ||
        topology_settings.type != TOPOLOGY_OBSTACLES)
        throw SetupError(
            "topology_settings: a file, costs, probabilities and changes are not supported "
            "(docs/rootsim.md); allowed: a default_geometry of type TOPOLOGY_OBSTACLES");
    if (topology_settings.out_of_topology >= lps)
        throw SetupError(
            fmt::format("--lp {}: must be above {}, the number of LPs outside of the topology", lps,
                        topology_settings.out_of_topology));
    layout.regions = lps - topology_settings.out_of_topology;
    layout.directions = directions();
    if (!is_grid()) return;
    layout.edge = static_cast<unsigned>(std::sqrt(layout.regions));
    if (layout.edge * layout.edge != layout.regions)
        throw SetupError(fmt::format("--lp {}: {} regions; this geometry requires a square number",
                                     lps, layout.regions));
}

}  // namespace nw::rootsim

using nw::rootsim::layout;

unsigned RegionsCount() { return layout.regions; }

unsigned DirectionsCount() { return layout.directions; }

unsigned NeighboursCount(unsigned region) {
    nw::rootsim::demand_region("NeighboursCount", region);
    unsigned count = 0;
    for (unsigned i = 0; i < layout.directions; ++i)
        count += nw::rootsim::neighbor(region, i) != DIRECTION_INVALID ? 1 : 0;
    return count;
}

// The last parameter has no effect: without obstacles every neighbor is reachable.
unsigned GetReceiver(unsigned from, direction_t direction, bool) {
    nw::rootsim::demand_region("GetReceiver", from);
    return nw::rootsim::neighbor(from, direction);
}

unsigned FindReceiver() {
    const unsigned self = nw::rootsim::lp_in_handler("FindReceiver").self();
    nw::rootsim::demand_region("FindReceiver", self);
    const unsigned regions = layout.regions;
    if (regions == 1) return self;
    switch (nw::rootsim::geometry()) {
        case TOPOLOGY_GRAPH:
            return static_cast<unsigned>(regions * Random());
        case TOPOLOGY_STAR:
            return self != 0 ? 0 : static_cast<unsigned>((regions - 1) * Random() + 1);
        default:
            break;
    }
    for (;;) {
        const auto direction = static_cast<unsigned>(layout.directions * Random());
        const unsigned to = nw::rootsim::neighbor(self, direction);
        if (to != DIRECTION_INVALID) return to;
    }
}

// Without costs, the shortest path is the path with the fewest regions.
double ComputeMinTour(unsigned source, unsigned dest, unsigned* result) {
    nw::rootsim::demand_region("ComputeMinTour", source);
    nw::rootsim::demand_region("ComputeMinTour", dest);
    if (source == dest)
        nw::rootsim::refuse_call("ComputeMinTour(): source and destination are the same region");
    const std::vector<unsigned> way = nw::rootsim::shortest_way(source, dest);
    std::copy(way.begin(), way.end(), result);
    return way.empty() ? -1 : static_cast<double>(way.size());
}

unsigned FindReceiverToward(unsigned to) {
    const unsigned self = nw::rootsim::current_lp("FindReceiverToward").self();
    nw::rootsim::demand_region("FindReceiverToward", self);
    nw::rootsim::demand_region("FindReceiverToward", to);
    if (to == self) return DIRECTION_INVALID;
    // The most frequent case: `to` is a neighbor.
    for (unsigned direction = 0; direction < layout.directions; ++direction)
        if (nw::rootsim::neighbor(self, direction) == to) return to;
    const std::vector<unsigned> way = nw::rootsim::shortest_way(self, to);
    return way.empty() ? unsigned{DIRECTION_INVALID} : way.front();
}
