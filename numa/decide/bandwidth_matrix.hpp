// SPDX-License-Identifier: Apache-2.0
// The bandwidth with which the CPUs of each node read from the memory of each node. All decisions
// about asymmetric machines use it. Nodes are numbered 0, 1, …, in the order of the machine's table
// of nodes that have memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nw {

// A set of nodes, one bit per node.
using NodeSet = std::uint32_t;
inline constexpr std::size_t decision_nodes_max = 16;
constexpr bool is_in(NodeSet set, std::size_t node) noexcept {
    return node < decision_nodes_max && (set >> node & 1) != 0;
}

class BandwidthMatrix {
  public:
    // mb_s[cpu][memory]: megabytes per second; 0 on the diagonal: unknown. Throws SetupError in
    // these cases: a row or a number is missing; a bandwidth is negative, or is zero outside the
    // diagonal; there is no node, or there are more than 16 nodes. The text names the error and the
    // allowed values.
    explicit BandwidthMatrix(const std::vector<std::vector<double>>& mb_s);

    std::size_t nodes() const noexcept { return nodes_; }
    double at(std::size_t cpu, std::size_t memory) const noexcept {
        return mb_s_[cpu * nodes_ + memory];
    }

  private:
    std::size_t nodes_;
    std::vector<double> mb_s_;  // row by row
};

}  // namespace nw
