// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/page_weights.hpp"

#include <algorithm>
#include <numeric>

#include "util/check.hpp"

namespace nw {
namespace {

double slowest_to_reach(const BandwidthMatrix& machine, NodeSet workers, std::size_t memory) {
    double slowest = 0;
    for (std::size_t cpu = 0; cpu < machine.nodes(); ++cpu) {
        const double mb_s = machine.at(cpu, memory);
        if (is_in(workers, cpu) && mb_s > 0 && (slowest == 0 || mb_s < slowest)) slowest = mb_s;
    }
    if (slowest > 0) return slowest;
    for (std::size_t other = 0; other < machine.nodes(); ++other)
        slowest = std::max(slowest, machine.at(memory, other));
    return slowest > 0 ? slowest : 1;  // there is only one node
}

}  // namespace

PageWeights canonical_weights(const BandwidthMatrix& machine, NodeSet workers) {
    NW_CHECK(workers != 0);
    PageWeights weights;
    for (std::size_t memory = 0; memory < machine.nodes(); ++memory)
        weights.push_back(slowest_to_reach(machine, workers, memory));
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= sum;
    return weights;
}

PageWeights weights_at(const PageWeights& canonical, NodeSet workers, double dwp) {
    NW_CHECK(dwp >= 0);
    NW_CHECK(dwp <= 1);
    const double share = share_of(canonical, workers);
    PageWeights weights = canonical;
    for (std::size_t node = 0; node < weights.size(); ++node)
        weights[node] *= is_in(workers, node) ? (share + dwp * (1 - share)) / share : 1 - dwp;
    return weights;
}

double share_of(const PageWeights& weights, NodeSet nodes) {
    double share = 0;
    for (std::size_t node = 0; node < weights.size(); ++node)
        if (is_in(nodes, node)) share += weights[node];
    return share;
}

}  // namespace nw
