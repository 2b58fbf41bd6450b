// Which node a page belongs on when pages are spread over nodes by weights: a function of its address, so
// that nothing is kept for a page, and pages of any part of a run have the weights as their shares.
//
// The pages of a slot are put into [0, 1)² by the multiples of two irrational numbers (a Kronecker sequence),
// whose points are spread far more evenly than random ones; each slot's sequence is shifted by the multiples
// of two others, so that few pages in each of many slots are spread as evenly. Pages of one kind are at regular
// places, such as in every fourth segment, and then only multiples of these numbers count: so the four were
// chosen among the roots of small numbers, e and π by trying such places, as tests/unit/numa/test_page_map.cpp
// does. The sequence R2 (Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018) will not do:
// four times its first number is nearly whole.
// The first coordinate says the node by the canonical weights. Where that is no worker's node, the second says from
// which proximity on the page goes to a worker's node, and which one follows from where the first lies in
// its node's interval. So each page has at most two nodes in its life, and changes once, when proximity
// grows beyond its own point.
//
// A pure function. Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/decide/page_weights.hpp"

namespace nw {

// Where slots lie: slot 0 from `base` on, each of 2^shift bytes.
struct SlotGrid {
    std::uintptr_t base = 0;
    unsigned shift = 47;
};

class PageMap {
  public:
    // weights[i]: of nodes[i]; `workers`: those that have workers. A unit is what moves as one: a page,
    // or a huge one. Requires: weights sum to 1, and some worker's is not 0.
    PageMap(std::vector<NodeId> nodes, const PageWeights& weights, NodeSet workers,
            std::size_t unit_bytes, const SlotGrid& slots = {});

    // By the kernel's rule for (weighted) interleaving instead of the first coordinate: the unit's number
    // modulo the sum of the weights, in the order of nodes.
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
    std::vector<std::uint32_t> kernel_weights_;  // empty: not by the kernel's rule
    std::uint64_t kernel_sum_ = 0;
};

}  // namespace nw
