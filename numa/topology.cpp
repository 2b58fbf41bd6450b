#include "numa/topology.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.hpp"

namespace nw {

Topology::Topology(Os& os) {
    // Rank 0 holds the first CPU of every core, rank 1 the second, and so on: a core's second
    // hardware thread is used only after every core has work.
    std::map<int, std::size_t> given_of_core;
    std::map<std::pair<std::size_t, NodeId>, std::vector<Place>> by_rank_and_node;
    std::set<NodeId> nodes;
    std::size_t ranks = 0;
    for (const Cpu& cpu : os.allowed_cpus()) {
        const std::size_t rank = given_of_core[cpu.core]++;
        by_rank_and_node[{rank, cpu.node}].push_back({cpu.number, cpu.node});
        nodes.insert(cpu.node);
        ranks = std::max(ranks, rank + 1);
    }
    core_count_ = given_of_core.size();
    nodes_.assign(nodes.begin(), nodes.end());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (std::size_t i = 0, before = order_.size();; ++i, before = order_.size()) {
            for (const NodeId node : nodes_) {
                const auto found = by_rank_and_node.find({rank, node});
                if (found != by_rank_and_node.end() && i < found->second.size())
                    order_.push_back(found->second[i]);
            }
            if (order_.size() == before) break;
        }
    }
    NW_CHECK(!order_.empty());
}

std::vector<Place> Topology::place_workers(std::size_t workers) const {
    std::vector<Place> places;
    places.reserve(workers);
    for (std::size_t w = 0; w < workers; ++w) places.push_back(order_[w % order_.size()]);
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.node < b.node; });
    return places;
}

}  // namespace nw
