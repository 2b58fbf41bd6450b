#include "numa/place/spread_policy.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "numa/decide/dwp_search.hpp"
#include "numa/decide/page_map.hpp"
#include "numa/measure/known_machine.hpp"

namespace nw {
namespace {

// The kernel's weights are near enough to ours if every node's share is.
constexpr double share_near_enough = 0.01;

constexpr double window_seconds = 0.25;

std::size_t unit_bytes(HugePages huge_pages) {
    return huge_pages == HugePages::on ? huge_page_bytes : page_bytes;
}

NodeSet worker_nodes(const std::vector<NodeId>& nodes, const std::vector<Place>& places) {
    NodeSet set = 0;
    for (const Place& place : places) {
        const auto found = std::find(nodes.begin(), nodes.end(), place.node);
        if (found != nodes.end()) set |= NodeSet{1} << (found - nodes.begin());
    }
    return set != 0 ? set : 1;
}

class SpreadPolicy : public PlacementPolicy {
  public:
    SpreadPolicy(const std::vector<NodeId>& nodes, const PageWeights& weights, NodeSet workers,
                 const PolicyInputs& inputs)
        : nodes_(nodes),
          map_(nodes, weights, workers, unit_bytes(inputs.huge_pages), inputs.slots) {}

    NodeId node_of(const void* page, NodeId) const noexcept override {
        return map_.node_of(page, dwp_.load(std::memory_order_relaxed));
    }
    bool spreads() const noexcept override { return nodes_.size() > 1; }

  protected:
    const std::vector<NodeId> nodes_;
    PageMap map_;
    std::atomic<double> dwp_{0};
};

class InterleavePolicy final : public SpreadPolicy {
  public:
    InterleavePolicy(const std::vector<NodeId>& nodes, const PolicyInputs& inputs)
        : SpreadPolicy(nodes, PageWeights(nodes.size(), 1.0 / static_cast<double>(nodes.size())), 1,
                       inputs) {
        map_.follow_kernel(std::vector<std::uint32_t>(nodes.size(), 1));
    }

    Status post_for_new_pages(Os& os, void* address, std::size_t bytes) override {
        return spreads() ? os.interleave_new_pages(address, bytes, nodes_, false) : 0;
    }
};

class WeightedPolicy final : public SpreadPolicy {
  public:
    WeightedPolicy(Os& os, const KnownMachine& machine, NodeSet workers, const PolicyInputs& inputs)
        : SpreadPolicy(machine.nodes, canonical_weights(machine.bandwidth, workers), workers,
                       inputs),
          source_(machine.source),
          canonical_(canonical_weights(machine.bandwidth, workers)),
          workers_(workers),
          search_(share_of(canonical_, workers)) {
        const std::vector<std::uint32_t> kernels = os.interleave_weights(nodes_);
        const double sum = std::accumulate(kernels.begin(), kernels.end(), 0.0);
        by_kernel_ = kernels.size() == nodes_.size();
        for (std::size_t i = 0; by_kernel_ && i < nodes_.size(); ++i)
            by_kernel_ = std::abs(kernels[i] / sum - canonical_[i]) <= share_near_enough;
    }

    Status post_for_new_pages(Os& os, void* address, std::size_t bytes) override {
        return by_kernel_ ? os.interleave_new_pages(address, bytes, nodes_, true) : 0;
    }

    std::uint32_t changes() const noexcept override {
        return changes_.load(std::memory_order_relaxed);
    }
    double period_seconds() const noexcept override { return spreads() ? window_seconds : 0; }

    PlacementOrders on_period(const PlacementPeriod& period) override {
        if (!period.has_caught_up || period.cpu_seconds <= 0) return {};
        if (search_.feed(static_cast<double>(period.committed_events) / period.cpu_seconds)) {
            dwp_.store(search_.dwp(), std::memory_order_relaxed);
            changes_.fetch_add(1, std::memory_order_relaxed);
        }
        return {};
    }

    std::string report() const override {
        std::string text = "pages on nodes";
        const PageWeights weights = weights_at(canonical_, workers_, dwp_.load());
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            text += fmt::format("{} {} {:.1f} %", i == 0 ? "" : ",", index(nodes_[i]),
                                100 * weights[i]);
        return fmt::format("{}; proximity {:.2f}{}; by {}", text, search_.dwp(),
                           search_.is_done() ? "" : " when the run ended", source_);
    }

  private:
    const std::string source_;
    const PageWeights canonical_;
    const NodeSet workers_;
    DwpSearch search_;
    std::atomic<std::uint32_t> changes_{0};
    bool by_kernel_ = false;
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_interleave_policy(Os& os, const PolicyInputs& inputs) {
    return std::make_unique<InterleavePolicy>(os.nodes(), inputs);
}

std::unique_ptr<PlacementPolicy> make_weighted_policy(Os& os, const PolicyInputs& inputs) {
    const KnownMachine machine = known_machine(os, inputs.machine_file);
    return std::make_unique<WeightedPolicy>(os, machine, worker_nodes(machine.nodes, inputs.places),
                                            inputs);
}

}  // namespace nw
