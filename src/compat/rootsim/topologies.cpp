// SPDX-License-Identifier: Apache-2.0
// Creation and use of topologies: the parts that both interfaces share.
#include "compat/rootsim/topologies.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "app/embedding.hpp"
#include "compat/rootsim/distributions.hpp"
#include "compat/rootsim/lp.hpp"

namespace nw::rootsim {
namespace {

using Directions = std::span<const topology_direction>;

constexpr std::array to_six{DIRECTION_E,  DIRECTION_W,  DIRECTION_NE,
                            DIRECTION_NW, DIRECTION_SE, DIRECTION_SW};
constexpr std::array to_four{DIRECTION_E, DIRECTION_W, DIRECTION_N, DIRECTION_S};
constexpr std::array to_two{DIRECTION_E, DIRECTION_W};
constexpr std::array to_one{DIRECTION_E};

}  // namespace

Directions directions_of(topology_geometry geometry) {
    switch (geometry) {
        case TOPOLOGY_HEXAGON:
            return to_six;
        case TOPOLOGY_SQUARE:
        case TOPOLOGY_TORUS:
            return to_four;
        case TOPOLOGY_BIDRING:
            return to_two;
        case TOPOLOGY_RING:
            return to_one;
        case TOPOLOGY_STAR:
        case TOPOLOGY_FCMESH:
        case TOPOLOGY_GRAPH:
            break;
    }
    return {};
}

namespace {

// The step to the neighbor in a grid: rows down, and columns to the right. In a hexagonal grid, odd
// rows are half a cell further to the right.
std::pair<int, int> step_of(topology_direction direction, bool is_odd_row) {
    switch (direction) {
        case DIRECTION_E:
            return {0, 1};
        case DIRECTION_W:
            return {0, -1};
        case DIRECTION_N:
            return {-1, 0};
        case DIRECTION_S:
            return {1, 0};
        case DIRECTION_NE:
            return {-1, is_odd_row ? 1 : 0};
        case DIRECTION_NW:
            return {-1, is_odd_row ? 0 : -1};
        case DIRECTION_SE:
            return {1, is_odd_row ? 1 : 0};
        case DIRECTION_SW:
            return {1, is_odd_row ? 0 : -1};
        case DIRECTION_RANDOM:
            break;
    }
    return {0, 0};
}

}  // namespace

std::uint64_t neighbor(const topology& of, std::uint64_t from, topology_direction direction) {
    const auto moved = [](std::uint64_t at, int by, std::uint64_t size) {
        return (at + size + static_cast<std::uint64_t>(by)) % size;
    };
    if (of.geometry == TOPOLOGY_RING || of.geometry == TOPOLOGY_BIDRING)
        return moved(from, direction == DIRECTION_E ? 1 : -1, of.regions);
    const std::uint64_t y = from / of.width;
    const std::uint64_t x = from % of.width;
    const auto [down, right] = step_of(direction, y % 2 == 1);
    if (of.geometry == TOPOLOGY_TORUS)
        return moved(y, down, of.height) * of.width + moved(x, right, of.width);
    // Coordinates below zero wrap to very large numbers.
    const std::uint64_t to_y = y + static_cast<std::uint64_t>(down);
    const std::uint64_t to_x = x + static_cast<std::uint64_t>(right);
    return to_y < of.height && to_x < of.width ? to_y * of.width + to_x : INVALID_DIRECTION;
}

namespace {

Generator& own_generator() { return current_lp("GetReceiver").generator; }

// Shuffles all directions, and returns the neighbor in the first direction that has a neighbor.
std::uint64_t random_in_grid(const topology& of, std::uint64_t from) {
    const Directions all = directions_of(of.geometry);
    std::array<topology_direction, to_six.size()> shuffled;
    std::copy(all.begin(), all.end(), shuffled.begin());
    const int last = static_cast<int>(all.size()) - 1;
    for (int i = 0; i < last; ++i)
        std::swap(shuffled[static_cast<std::size_t>(i)],
                  shuffled[static_cast<std::size_t>(draw_range(own_generator(), i, last))]);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (const std::uint64_t to = neighbor(of, from, shuffled[i]); to != INVALID_DIRECTION)
            return to;
    return INVALID_DIRECTION;
}

std::uint64_t random_in_graph(const std::vector<topology::Link>& links) {
    if (links.empty()) return INVALID_DIRECTION;
    double drawn = next_uniform(own_generator());
    for (const topology::Link& link : links) {
        if (drawn < link.probability) return link.to;
        drawn -= link.probability;
    }
    return links.back().to;
}

std::uint64_t random_neighbor(const topology& of, std::uint64_t from) {
    switch (of.geometry) {
        case TOPOLOGY_HEXAGON:
        case TOPOLOGY_SQUARE:
        case TOPOLOGY_TORUS:
            return random_in_grid(of, from);
        case TOPOLOGY_RING:
            return neighbor(of, from, DIRECTION_E);
        case TOPOLOGY_BIDRING:
            return neighbor(of, from,
                            next_uniform(own_generator()) < 0.5 ? DIRECTION_E : DIRECTION_W);
        case TOPOLOGY_STAR:
            if (from != 0) return 0;
            if (of.regions == 1) return INVALID_DIRECTION;
            return static_cast<std::uint64_t>(
                draw_range(own_generator(), 1, static_cast<int>(of.regions) - 1));
        case TOPOLOGY_FCMESH:
            if (of.regions == 1) return INVALID_DIRECTION;
            for (;;) {
                const auto to = static_cast<std::uint64_t>(static_cast<double>(of.regions) *
                                                           next_uniform(own_generator()));
                if (to != from) return to;
            }
        case TOPOLOGY_GRAPH:
            return random_in_graph(of.links[from]);
    }
    return INVALID_DIRECTION;
}

}  // namespace

std::uint64_t get_receiver(const topology& of, std::uint64_t from, topology_direction direction) {
    if (from >= of.regions)
        return refuse_topology("GetReceiver", "there is no such region", INVALID_DIRECTION);
    if (direction == DIRECTION_RANDOM) return random_neighbor(of, from);
    const Directions all = directions_of(of.geometry);
    if (all.empty())
        return refuse_topology("GetReceiver", "this geometry supports only DIRECTION_RANDOM",
                               INVALID_DIRECTION);
    if (std::find(all.begin(), all.end(), direction) == all.end()) return INVALID_DIRECTION;
    return neighbor(of, from, direction);
}

std::uint64_t count_directions(const topology& of, std::uint64_t from) {
    if (from >= of.regions)
        return refuse_topology("CountDirections", "there is no such region", std::uint64_t{0});
    switch (of.geometry) {
        case TOPOLOGY_STAR:
            return from == 0 ? of.regions - 1 : 1;
        case TOPOLOGY_FCMESH:
            return of.regions - 1;
        case TOPOLOGY_GRAPH:
            return of.links[from].size();
        default:
            break;
    }
    const Directions all = directions_of(of.geometry);
    return static_cast<std::uint64_t>(
        std::count_if(all.begin(), all.end(), [&](topology_direction direction) {
            return neighbor(of, from, direction) != INVALID_DIRECTION;
        }));
}

topology::Link* find_link(topology& of, std::uint64_t from, std::uint64_t to) {
    std::vector<topology::Link>& links = of.links[from];
    const auto link = std::find_if(links.begin(), links.end(),
                                   [to](const topology::Link& one) { return one.to == to; });
    return link != links.end() ? &*link : nullptr;
}

void demand_own(const char* function, const topology& of) {
    if (!embedding::in_handler()) return;
    const Lp* const lp = running_call.lp;
    if (lp == nullptr || lp->self() != of.owner)
        throw ModelError(
            fmt::format("{}(): the topology was not created by this LP, whose events may be rolled "
                        "back; allowed: in a handler, the LP's own topologies; before a run, all",
                        function));
}

bool is_neighbor(topology& of, std::uint64_t from, std::uint64_t to) {
    if (from >= of.regions || to >= of.regions) return false;
    switch (of.geometry) {
        case TOPOLOGY_STAR:
            return (from == 0) != (to == 0);
        case TOPOLOGY_FCMESH:
            return true;
        case TOPOLOGY_GRAPH:
            return find_link(of, from, to) != nullptr;
        default:
            break;
    }
    const Directions all = directions_of(of.geometry);
    return std::any_of(all.begin(), all.end(), [&](topology_direction direction) {
        return neighbor(of, from, direction) == to;
    });
}

}  // namespace nw::rootsim

using nw::rootsim::refuse_topology;

topology* vInitializeTopology(topology_geometry geometry, int argc, ...) {
    const bool is_grid =
        geometry == TOPOLOGY_HEXAGON || geometry == TOPOLOGY_SQUARE || geometry == TOPOLOGY_TORUS;
    constexpr const char* name = "InitializeTopology";
    if (geometry < TOPOLOGY_HEXAGON || geometry > TOPOLOGY_GRAPH)
        return refuse_topology<topology*>(name, "unknown geometry", nullptr);
    if (argc != (is_grid ? 2 : 1))
        return refuse_topology<topology*>(
            name,
            is_grid ? "must be given height and width" : "must be given the number of regions",
            nullptr);
    std::va_list sizes;
    va_start(sizes, argc);
    const std::uint64_t height = va_arg(sizes, unsigned);
    const std::uint64_t width = is_grid ? va_arg(sizes, unsigned) : 1;
    va_end(sizes);
    if (height * width == 0)
        return refuse_topology<topology*>(name, "must have at least one region", nullptr);
    const std::uint64_t regions = height * width;
    const nw::rootsim::Lp* const maker = nw::rootsim::running_call.lp;
    return new topology{
        geometry,
        regions,
        height,
        width,
        maker != nullptr ? maker->self() : topology::all_lps,
        std::vector<std::vector<topology::Link>>(geometry == TOPOLOGY_GRAPH ? regions : 0)};
}

void ReleaseTopology(topology* of) {
    if (of != nullptr) nw::rootsim::demand_own("ReleaseTopology", *of);
    delete of;
}

std::uint64_t CountRegions(topology* of) { return of->regions; }

bool AddTopologyLink(topology* of, std::uint64_t from, std::uint64_t to, double probability) {
    constexpr const char* name = "AddTopologyLink";
    nw::rootsim::demand_own(name, *of);
    if (of->geometry != TOPOLOGY_GRAPH)
        return refuse_topology(name, "only a graph has links", false);
    if (!(probability >= 0 && probability <= 1))
        return refuse_topology(name, "a probability is from 0 to 1", false);
    if (from >= of->regions || to >= of->regions)
        return refuse_topology(name, "there is no such region", false);
    if (topology::Link* const known = nw::rootsim::find_link(*of, from, to); known != nullptr)
        known->probability = probability;
    else
        of->links[from].push_back({to, probability});
    return true;
}
