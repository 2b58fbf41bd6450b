// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/page_map.hpp"

#include <bit>
#include <numeric>
#include <utility>

#include "util/check.hpp"

namespace nw {
namespace {

// 2^64 times the fractional parts of √29 and √11.
constexpr std::uint64_t first_step = 0x629A'292A'367C'D507;
constexpr std::uint64_t second_step = 0x510E'527F'ADE6'82D1;

// 2^64 times the fractional parts of √7 and π.
constexpr std::uint64_t first_shift = 0xA54F'F53A'5F1D'36F1;
constexpr std::uint64_t second_shift = 0x243F'6A88'85A3'08D3;

double fraction(std::uint64_t bits) noexcept { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

PageMap::PageMap(std::vector<NodeId> nodes, const PageWeights& weights, NodeSet workers,
                 std::size_t unit_bytes, const SlotGrid& slots)
    : nodes_(std::move(nodes)),
      weights_(weights),
      workers_(workers),
      worker_share_(share_of(weights, workers)),
      unit_shift_(static_cast<unsigned>(std::countr_zero(unit_bytes))),
      slots_(slots) {
    NW_CHECK(nodes_.size() == weights_.size());
    NW_CHECK(worker_share_ > 0);
}

void PageMap::follow_kernel(std::vector<std::uint32_t> weights) {
    NW_CHECK(weights.size() == nodes_.size());
    kernel_sum_ = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    kernel_weights_ = std::move(weights);
}

double PageMap::coordinate(std::uintptr_t address, std::uint64_t step,
                           std::uint64_t shift) const noexcept {
    const std::uintptr_t in_region = address - slots_.base;
    const std::uint64_t slot = in_region >> slots_.shift;
    const std::uint64_t unit = (in_region - (slot << slots_.shift)) >> unit_shift_;
    return fraction(unit * step + slot * shift);
}

// Returns the index of the node that the first coordinate or the kernel's rule selects. Stores in
// `within` a number in [0, 1): the position of the first coordinate in this node's interval or,
// with the kernel's rule, the first coordinate itself.
std::size_t PageMap::place_of(std::uintptr_t address, double& within) const noexcept {
    within = coordinate(address, first_step, first_shift);
    std::size_t place = 0;
    if (!kernel_weights_.empty()) {
        std::uint64_t rest = (address >> unit_shift_) % kernel_sum_;
        while (rest >= kernel_weights_[place]) rest -= kernel_weights_[place++];
        return place;
    }
    while (place + 1 < weights_.size() && within >= weights_[place]) within -= weights_[place++];
    within /= weights_[place];
    return place;
}

NodeId PageMap::node_of(const void* page, double dwp) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(page);
    double within = 0;
    const std::size_t place = place_of(address, within);
    if (is_in(workers_, place) || coordinate(address, second_step, second_shift) >= dwp)
        return nodes_[place];
    within *= worker_share_;
    std::size_t chosen = place;
    for (std::size_t node = 0; node < weights_.size(); ++node) {
        if (!is_in(workers_, node) || weights_[node] == 0) continue;
        chosen = node;
        if (within < weights_[node]) break;
        within -= weights_[node];
    }
    return nodes_[chosen];
}

}  // namespace nw
