// Where the workers of this rank run. A launcher may have bound each rank to cores of its own; where
// ranks of a host share theirs, because it did not, they divide them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/rank_group.hpp"
#include "numa/place/topology.hpp"

namespace nw {

struct RankPlaces {
    std::uint32_t workers = 1;  // in every rank alike
    std::vector<Place> places;  // by worker
    std::vector<std::uint32_t>
        sharers;                     // ranks that run on these cores, in order: this one, at least
    std::size_t number = 0;          // of this rank among them
    std::vector<Place> host_places;  // of all workers of these
    bool share_cpus = false;         // more workers, of all ranks here, than CPUs
    bool spare_core = false;         // a core, for each rank, that no worker is placed on
};

// Collective. `workers_wanted` 0: one a core of this rank's share, and everywhere as many as the rank
// with fewest can have.
RankPlaces choose_places(RankGroup& ranks, const Topology& topology, std::uint32_t workers_wanted);

// Collective. A line for each rank, for people: its host, and the core and NUMA node of each of its
// workers.
std::vector<std::string> describe_places(RankGroup& ranks, const RankPlaces& places, bool pinned);

}  // namespace nw
