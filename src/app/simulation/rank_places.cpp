// SPDX-License-Identifier: Apache-2.0
#include "app/simulation/rank_places.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/partition.hpp"

namespace nw {
namespace {

// A text that is equal for ranks that would run on the same cores.
std::string cores_of(RankGroup& ranks, const Topology& topology) {
    std::string text = ranks.host();
    for (const NodeInfo& node : topology.nodes())
        text += fmt::format(" {}", fmt::join(node.cpus, ","));
    return text;
}

}  // namespace

RankPlaces choose_places(RankGroup& ranks, const Topology& topology, std::uint32_t workers_wanted,
                         double cpu_quota) {
    const std::string own = cores_of(ranks, topology);
    RankPlaces chosen;
    const std::vector<std::string> cores = ranks.share(own);
    for (std::uint32_t r = 0; r < cores.size(); ++r) {
        if (cores[r] != own) continue;
        if (r < index(ranks.rank())) ++chosen.number;
        chosen.sharers.push_back(r);
    }
    const std::size_t sharers = chosen.sharers.size();
    chosen.workers = workers_wanted;
    if (workers_wanted == 0) {
        const double usable =
            std::min(static_cast<double>(topology.core_count()), std::ceil(cpu_quota));
        const std::size_t mine = std::clamp<std::size_t>(static_cast<std::size_t>(usable) / sharers,
                                                         1, Partition::workers_per_rank_max);
        chosen.workers = static_cast<std::uint32_t>(mine);
        for (const std::string& theirs : ranks.share(std::to_string(mine)))
            chosen.workers =
                std::min(chosen.workers, static_cast<std::uint32_t>(std::stoul(theirs)));
    }
    chosen.spare_core = topology.core_count() >= std::size_t{chosen.workers + 1} * sharers;
    const std::vector<Place>& all = chosen.host_places =
        topology.place_workers(std::size_t{chosen.workers} * sharers);
    chosen.share_cpus = ranks_share_cpus(all, chosen.workers);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(chosen.number * chosen.workers);
    chosen.places.assign(first, first + chosen.workers);
    return chosen;
}

std::vector<std::string> describe_places(RankGroup& ranks, const RankPlaces& places, bool pinned) {
    const std::string host = ranks.host();
    std::string line =
        fmt::format("rank {}{}{}: {} {}", index(ranks.rank()), host.empty() ? "" : " on ", host,
                    places.workers, places.workers == 1 ? "worker" : "workers");
    if (pinned) {
        line += ", (core, node):";
        for (const Place& place : places.places)
            line += fmt::format(" ({}, {})", place.cpu, index(place.node));
    } else {
        line += ", not pinned";
    }
    return ranks.share(line);
}

}  // namespace nw
