#include "numa/decide/page_map.hpp"

#include <bit>
#include <numeric>
#include <utility>

#include "base/check.hpp"

namespace nw {
namespace {

// 2^64 divided by g and by g², where g³ = g + 1.
constexpr std::uint64_t first_step = 0xC13F'A9A9'02A6'328F;
constexpr std::uint64_t second_step = 0x91E1'0DA5'C79E'7B1D;

// 2^64 times the fractions of the golden ratio and of the square root of 2.
constexpr std::uint64_t first_shift = 0x9E37'79B9'7F4A'7C15;
constexpr std::uint64_t second_shift = 0x6A09'E667'F3BC'C908;

double fraction(std::uint64_t bits) noexcept { return static_cast<double>(bits >> 11) * 0x1p-53; }

bool is_in(NodeSet set, std::size_t node) noexcept { return (set >> node & 1) != 0; }

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

// The canonical place, and where in [0, 1) of it the page's unit lies.
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
