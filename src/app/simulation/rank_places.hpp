// SPDX-License-Identifier: Apache-2.0
// Chooses the CPUs and nodes of the workers of this rank. If the launcher has bound each rank to
// its own cores, the rank uses these cores. Otherwise the ranks of a host have the same cores, and
// divide these cores among themselves.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "net/rank_group.hpp"
#include "numa/place/topology.hpp"

namespace nw {

struct RankPlaces {
    std::uint32_t workers = 1;  // equal on all ranks
    std::vector<Place> places;  // by worker
    // The ranks that have the same cores as this rank, in order. They include this rank.
    std::vector<std::uint32_t> sharers;
    std::size_t number = 0;          // index of this rank among the sharers
    std::vector<Place> host_places;  // of all workers of the sharers
    bool share_cpus = false;         // workers of different ranks have the same CPU
    bool spare_core = false;         // each sharer has a core without a worker
};

// Collective. If `workers_wanted` is 0, each rank computes the number of cores in its share, and
// the smallest of these numbers is the number of workers of each rank. `cpu_quota`: the number of
// CPUs whose time the sharers may use together (ControlGroups::cpu_quota()); it limits the number
// of cores.
RankPlaces choose_places(RankGroup& ranks, const Topology& topology, std::uint32_t workers_wanted,
                         double cpu_quota = std::numeric_limits<double>::infinity());

// Collective. Returns one readable line for each rank: its host, its number of workers, and the
// core and NUMA node of each worker. If the workers are not pinned, the line contains "not pinned"
// instead of cores and nodes.
std::vector<std::string> describe_places(RankGroup& ranks, const RankPlaces& places, bool pinned);

}  // namespace nw
