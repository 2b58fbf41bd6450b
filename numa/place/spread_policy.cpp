// SPDX-License-Identifier: Apache-2.0
// `--place interleave` and `--place weighted`: pages of states and of the engine are spread over
// all nodes that have memory, evenly or by the weights of BWAP (page_weights.hpp). Mail, which is
// read once, stays on the node of the reading worker. These policies are for a run that uses only
// some of a machine's nodes, and whose model reads more memory than the bandwidth of these nodes
// permits.
//
// With weights, proximity is tuned during the run (decide/dwp_search.hpp), unless the user gives
// it. The value of a window is the committed events per second of CPU time. A window counts only if
// pagemigd has moved the pages of the last step. If workers are moved to other nodes, because CPUs
// were taken away or returned, the weights are computed again, and proximity is tuned again.
//
// Both policies work with any kernel. If the kernel supports the wanted proportions, the kernel
// places new pages by a policy for the whole region. This needs no additional mapping. pagemigd
// then moves misplaced pages. With `interleave`, pagemigd uses the kernel's rule, so it leaves
// these pages where they are. With `weighted`, the kernel puts a sequence of consecutive pages on
// each node in turn; the length of a sequence is the weight of its node. For groups with few pages
// the resulting shares are far from the weights, so pagemigd moves these pages to the nodes of the
// map.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "numa/decide/dwp_search.hpp"
#include "numa/decide/page_map.hpp"
#include "numa/measure/known_machine.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {
namespace {

// The kernel's weights are used if each node's share differs by at most this much from the wanted
// share.
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
    SpreadPolicy(const std::vector<NodeId>& nodes, const PolicyInputs& inputs)
        : nodes_(nodes), unit_bytes_(unit_bytes(inputs.huge_pages)), slots_(inputs.slots) {}

    NodeId node_of(const void* page, NodeId) const noexcept override {
        return map_
            .load(std::memory_order_acquire)  // pairs with go_by()
            ->node_of(page, dwp_.load(std::memory_order_relaxed));
    }
    bool spreads() const noexcept override { return nodes_.size() > 1; }

  protected:
    PageMap map_for(const PageWeights& weights, NodeSet workers) const {
        return {nodes_, weights, workers, unit_bytes_, slots_};
    }
    // Keeps older maps, because pagemigd may still use one.
    void go_by(PageMap map) {
        maps_.push_back(std::make_unique<const PageMap>(std::move(map)));
        map_.store(maps_.back().get(), std::memory_order_release);
    }

    const std::vector<NodeId> nodes_;
    std::atomic<double> dwp_{0};

  private:
    const std::size_t unit_bytes_;
    const SlotGrid slots_;
    std::vector<std::unique_ptr<const PageMap>> maps_;
    std::atomic<const PageMap*> map_{nullptr};
};

class InterleavePolicy final : public SpreadPolicy {
  public:
    InterleavePolicy(Os& os, const PolicyInputs& inputs) : SpreadPolicy(os.nodes(), inputs) {
        const std::size_t nodes = nodes_.size();
        PageMap map = map_for(PageWeights(nodes, 1.0 / static_cast<double>(nodes)), 1);
        map.follow_kernel(std::vector<std::uint32_t>(nodes, 1));
        go_by(std::move(map));
    }

    Status post_for_new_pages(Os& os, void* address, std::size_t bytes) override {
        return spreads() ? os.interleave_new_pages(address, bytes, nodes_, false) : 0;
    }
};

class WeightedPolicy final : public SpreadPolicy {
  public:
    WeightedPolicy(Os& os, const PolicyInputs& inputs)
        : WeightedPolicy(os, known_machine(os, inputs.machine_file), inputs) {}
    WeightedPolicy(Os& os, const KnownMachine& machine, const PolicyInputs& inputs)
        : SpreadPolicy(machine.nodes, inputs), machine_(machine), given_(inputs.proximity) {
        spread_for(worker_nodes(nodes_, inputs.places));
        const std::vector<std::uint32_t> kernels = os.interleave_weights(nodes_);
        const double sum = std::accumulate(kernels.begin(), kernels.end(), 0.0);
        const PageWeights wanted = weights_at(canonical_, workers_, dwp_);
        by_kernel_ = kernels.size() == nodes_.size();
        for (std::size_t i = 0; by_kernel_ && i < nodes_.size(); ++i)
            by_kernel_ = std::abs(kernels[i] / sum - wanted[i]) <= share_near_enough;
    }

    Status post_for_new_pages(Os& os, void* address, std::size_t bytes) override {
        return by_kernel_ ? os.interleave_new_pages(address, bytes, nodes_, true) : 0;
    }

    std::uint32_t changes() const noexcept override {
        return changes_.load(std::memory_order_acquire);  // pairs with note_change()
    }
    double period_seconds() const noexcept override {
        return spreads() && search_ ? window_seconds : 0;
    }

    void on_cpus(const Topology&, const std::vector<Place>& places) override {
        const NodeSet workers = worker_nodes(nodes_, places);
        if (workers == workers_) return;
        spread_for(workers);
        note_change();
    }

    PlacementOrders on_period(const PlacementPeriod& period) override {
        if (!search_ || !period.has_caught_up || period.cpu_seconds <= 0) return {};
        if (search_->feed(static_cast<double>(period.committed_events) / period.cpu_seconds)) {
            dwp_.store(search_->dwp(), std::memory_order_relaxed);
            note_change();
        }
        return {};
    }

    std::string report() const override {
        std::string text = "pages on nodes";
        const PageWeights weights = weights_at(canonical_, workers_, dwp_.load());
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            text += fmt::format("{} {} {:.1f} %", i == 0 ? "" : ",", index(nodes_[i]),
                                100 * weights[i]);
        const char* how = !search_             ? " (given)"
                          : search_->is_done() ? ""
                                               : " (the search has not ended)";
        return fmt::format("{}; proximity {:.2f}{}; by {}", text, dwp_.load(), how,
                           machine_.source);
    }

  private:
    void spread_for(NodeSet workers) {
        workers_ = workers;
        canonical_ = canonical_weights(machine_.bandwidth, workers);
        if (!given_) search_.emplace(share_of(canonical_, workers));
        dwp_.store(given_.value_or(0), std::memory_order_relaxed);
        go_by(map_for(canonical_, workers));
    }
    // A thread that reads the new value of changes() then also reads the new map and proximity.
    // Pairs with changes().
    void note_change() noexcept { changes_.fetch_add(1, std::memory_order_release); }

    const KnownMachine machine_;
    const std::optional<double> given_;  // proximity, if the user has given it
    PageWeights canonical_;
    NodeSet workers_ = 0;
    std::optional<DwpSearch> search_;  // none: proximity is given
    std::atomic<std::uint32_t> changes_{0};
    bool by_kernel_ = false;
};

}  // namespace

const PlacementChoice interleave_placement{.word = "interleave",
                                           .help = "evenly on all nodes",
                                           .make = make_policy<InterleavePolicy>,
                                           .spreads_pages = true};

const PlacementChoice weighted_placement{
    .word = "weighted",
    .help = "on all nodes, by the bandwidth that the workers have to them",
    .make = make_policy<WeightedPolicy>,
    .spreads_pages = true,
    .reads_machine = true,
    .reads_proximity = true};

}  // namespace nw
