// SPDX-License-Identifier: Apache-2.0
// The functions for topologies after core 3.0.0: the topology is the first parameter.
#include "compat/rootsim/include/ROOT-Sim/topology.h"
#include "compat/rootsim/topologies.hpp"

using namespace nw::rootsim;

namespace {

using Link = topology::Link;

constexpr const char* only_graph = "only a graph has links";

// The link. If there is no such link, prints a line and returns null.
Link* link_of(const char* function, topology* of, std::uint64_t from, std::uint64_t to) {
    if (of->geometry != TOPOLOGY_GRAPH)
        return refuse_topology<Link*>(function, only_graph, nullptr);
    Link* const link = from < of->regions ? find_link(*of, from, to) : nullptr;
    return link != nullptr ? link
                           : refuse_topology<Link*>(function, "there is no such link", nullptr);
}

// Calls step(region) for each region with a link to `to`. If the arguments are wrong, prints a line
// and returns false.
template <class Step>
bool visit_sources(const char* function, topology& of, std::uint64_t to, Step step) {
    if (of.geometry != TOPOLOGY_GRAPH) return refuse_topology(function, only_graph, false);
    if (to >= of.regions) return refuse_topology(function, "there is no such region", false);
    for (std::uint64_t from = 0; from < of.regions; ++from)
        if (find_link(of, from, to) != nullptr) step(from);
    return true;
}

}  // namespace

std::uint64_t GetReceiver(topology* of, std::uint64_t from, topology_direction direction) {
    return get_receiver(*of, from, direction);
}
std::uint64_t CountDirections(topology* of, std::uint64_t from) {
    return count_directions(*of, from);
}
bool IsNeighbor(topology* of, std::uint64_t from, std::uint64_t to) {
    return is_neighbor(*of, from, to);
}

void GetAllReceivers(topology* of, std::uint64_t from, std::uint64_t* receivers) {
    constexpr const char* name = "GetAllReceivers";
    if (from >= of->regions) return void(refuse_topology(name, "there is no such region", false));
    if (of->geometry == TOPOLOGY_STAR || of->geometry == TOPOLOGY_FCMESH)
        return void(
            refuse_topology(name, "allowed: topologies other than a star and a full mesh", false));
    if (of->geometry == TOPOLOGY_GRAPH)
        for (const Link& link : of->links[from]) *receivers++ = link.to;
    for (const topology_direction direction : directions_of(of->geometry))
        if (const std::uint64_t to = neighbor(*of, from, direction); to != INVALID_DIRECTION)
            *receivers++ = to;
}

std::uint64_t CountSources(topology* of, std::uint64_t me) {
    std::uint64_t sources = 0;
    visit_sources("CountSources", *of, me, [&](std::uint64_t) { ++sources; });
    return sources;
}

void GetAllSources(topology* of, std::uint64_t to, std::uint64_t* sources) {
    visit_sources("GetAllSources", *of, to, [&](std::uint64_t from) { *sources++ = from; });
}

bool NormalizeLinkProbabilities(topology* of) {
    constexpr const char* name = "NormalizeLinkProbabilities";
    demand_own(name, *of);
    if (of->geometry != TOPOLOGY_GRAPH) return refuse_topology(name, only_graph, false);
    for (std::vector<Link>& links : of->links)
        for (Link& link : links) link.probability = 1 / static_cast<double>(links.size());
    return true;
}

bool SetTopologyLinkData(topology* of, std::uint64_t from, std::uint64_t to, void* data) {
    constexpr const char* name = "SetTopologyLinkData";
    demand_own(name, *of);
    Link* const link = link_of(name, of, from, to);
    if (link != nullptr) link->data = data;
    return link != nullptr;
}

void* GetTopologyLinkData(topology* of, std::uint64_t from, std::uint64_t to) {
    const Link* const link = link_of("GetTopologyLinkData", of, from, to);
    return link != nullptr ? link->data : nullptr;
}
