// SPDX-License-Identifier: Apache-2.0
// Computes the node of a page if pages are spread over nodes by weights. The node is a function of
// the page's address, so no data is stored per page. In any part of a run, the shares of the nodes
// follow their weights.
//
// The pages of a slot are mapped to points in [0, 1)² by the multiples of two irrational numbers (a
// Kronecker sequence). Such points are spread far more evenly than random points. The sequence of
// each slot is shifted by the multiples of two other irrational numbers, so that the points are
// also spread evenly if each of many slots has only a few pages. Pages of one kind are at regular
// positions, for example in every fourth segment. The steps between the points of such pages are
// multiples of the irrational numbers, and must also spread the points evenly. Therefore the four
// numbers were selected by trials: each root of a small number, e and π were tried with regular
// positions, as in tests/unit/numa/test_page_map.cpp. The sequence R2 (Roberts, "The unreasonable
// effectiveness of quasirandom sequences", 2018) is not suitable: four times its first number is
// nearly an integer.
//
// The first coordinate selects a node by the canonical weights. If this node has no worker, the
// second coordinate is a threshold: if proximity is above the threshold, the page belongs on a node
// with workers. This second node is selected by the position of the first coordinate in the
// interval of the first node. So each page has at most two nodes, and changes its node at most
// once: when proximity exceeds the threshold.
//
// Pure functions. Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/decide/page_weights.hpp"

namespace nw {

// The positions of slots: slot 0 begins at `base`, and each slot has 2^shift bytes.
struct SlotGrid {
    std::uintptr_t base = 0;
    unsigned shift = 47;
};

class PageMap {
  public:
    // weights[i]: weight of nodes[i]; `workers`: the nodes that have workers. A unit is a page or a
    // huge page; all its bytes are on one node. Requires: the weights sum to 1, and a node with
    // workers has a weight above 0.
    PageMap(std::vector<NodeId> nodes, const PageWeights& weights, NodeSet workers,
            std::size_t unit_bytes, const SlotGrid& slots = {});

    // Uses the kernel's rule for (weighted) interleaving instead of the first coordinate. The rule
    // uses the unit's number modulo the sum of the weights, with the weights in the order of nodes.
    void follow_kernel(std::vector<std::uint32_t> weights);

    NodeId node_of(const void* page, double dwp) const noexcept;

  private:
    std::size_t place_of(std::uintptr_t address, double& within) const noexcept;
    double coordinate(std::uintptr_t address, std::uint64_t step,
                      std::uint64_t shift) const noexcept;

    std::vector<NodeId> nodes_;
    std::vector<double> weights_;
    NodeSet workers_;
    double worker_share_;
    unsigned unit_shift_;
    SlotGrid slots_;
    std::vector<std::uint32_t> kernel_weights_;  // empty: the first coordinate is used
    std::uint64_t kernel_sum_ = 0;
};

}  // namespace nw
