// SPDX-License-Identifier: Apache-2.0
#include "numa/place/topology.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "util/check.hpp"

namespace nw {

Topology::Topology(Os& os) {
    const std::vector<Cpu> cpus = os.allowed_cpus();
    describe_nodes(os, cpus);
    order_cpus(cpus);
}

void Topology::describe_nodes(Os& os, const std::vector<Cpu>& cpus) {
    std::map<NodeId, NodeInfo> table;
    for (const NodeId node : os.nodes()) table[node].total_bytes = os.total_bytes(node);
    std::map<NodeId, std::set<int>> cores;
    for (const Cpu& cpu : cpus) {
        table[cpu.node].cpus.push_back(cpu.number);
        cores[cpu.node].insert(cpu.core);
    }
    for (auto& [node, info] : table) {
        info.node = node;
        info.cores = cores[node].size();
        info.free_bytes = std::min(os.free_bytes(node), info.total_bytes);
        for (const auto& [other, unused] : table)
            info.distances.push_back(os.distance(node, other));
        nodes_.push_back(info);
    }
}

// The node itself if it has memory, else the nearest node that has memory.
NodeId Topology::memory_of(NodeId node) const {
    const auto self = std::find_if(nodes_.begin(), nodes_.end(),
                                   [&](const NodeInfo& info) { return info.node == node; });
    if (self->total_bytes > 0) return node;
    std::size_t nearest = nodes_.size();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].total_bytes == 0) continue;
        if (nearest == nodes_.size() || self->distances[i] < self->distances[nearest]) nearest = i;
    }
    return nearest < nodes_.size() ? nodes_[nearest].node : node;
}

void Topology::order_cpus(const std::vector<Cpu>& cpus) {
    // Sibling 0 is the first CPU of every core, sibling 1 the second, and so on. A core's second
    // hardware thread is used only after every core has a worker.
    std::map<int, std::size_t> given_of_core;
    std::map<std::pair<std::size_t, NodeId>, std::vector<Place>> by_sibling_and_node;
    std::set<NodeId> nodes;
    std::size_t siblings_max = 0;
    for (const Cpu& cpu : cpus) {
        const NodeId node = memory_of(cpu.node);
        const std::size_t sibling = given_of_core[cpu.core]++;
        by_sibling_and_node[{sibling, node}].push_back({cpu.number, node});
        nodes.insert(node);
        siblings_max = std::max(siblings_max, sibling + 1);
    }
    core_count_ = given_of_core.size();
    worker_nodes_.assign(nodes.begin(), nodes.end());
    for (std::size_t sibling = 0; sibling < siblings_max; ++sibling) {
        for (std::size_t i = 0, before = order_.size();; ++i, before = order_.size()) {
            for (const NodeId node : worker_nodes_) {
                const auto found = by_sibling_and_node.find({sibling, node});
                if (found != by_sibling_and_node.end() && i < found->second.size())
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

std::vector<Place> Topology::place_again(std::vector<Place> places) const {
    std::vector<std::vector<Place*>> workers(order_.size());  // by index into order_
    const auto settle = [&](Place* place) {
        std::size_t best = 0;
        const auto cost = [&](std::size_t i) {
            return std::pair(workers[i].size(), order_[i].node != place->node);
        };
        for (std::size_t i = 1; i < order_.size(); ++i)
            if (cost(i) < cost(best)) best = i;
        *place = order_[best];
        workers[best].push_back(place);
    };
    std::vector<Place*> homeless;
    for (Place& place : places) {
        const auto found = std::find(order_.begin(), order_.end(), place);
        if (found == order_.end())
            homeless.push_back(&place);
        else
            workers[static_cast<std::size_t>(found - order_.begin())].push_back(&place);
    }
    for (Place* const place : homeless) settle(place);
    const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    for (;;) {
        auto& fullest = *std::max_element(workers.begin(), workers.end(), fewer);
        const auto& emptiest = *std::min_element(workers.begin(), workers.end(), fewer);
        if (fullest.size() < emptiest.size() + 2) return places;
        // The second worker is moved, not the last one, so that workers that share a CPU keep their
        // order.
        Place* const place = fullest[1];
        fullest.erase(fullest.begin() + 1);
        settle(place);
    }
}

std::vector<Place> Topology::places_on(NodeId node) const {
    std::vector<Place> places;
    std::copy_if(order_.begin(), order_.end(), std::back_inserter(places),
                 [node](const Place& place) { return place.node == node; });
    return places;
}

std::size_t nodes_spanned(const std::vector<Place>& places) {
    std::set<NodeId> nodes;
    for (const Place& place : places) nodes.insert(place.node);
    return nodes.size();
}

std::vector<double> shares_of_cpus(const std::vector<Place>& places) {
    std::map<int, double> workers;
    for (const Place& place : places) ++workers[place.cpu];
    std::vector<double> shares;
    for (const Place& place : places) shares.push_back(1 / workers[place.cpu]);
    return shares;
}

bool ranks_share_cpus(const std::vector<Place>& places, std::size_t workers) {
    std::map<int, std::size_t> rank_of_cpu;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (rank_of_cpu.emplace(places[i].cpu, i / workers).first->second != i / workers)
            return true;
    return false;
}

}  // namespace nw
