// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/heaviest_links.hpp"

#include <algorithm>
#include <utility>

#include "util/check.hpp"

namespace nw {
namespace {

using Traffic = std::vector<std::vector<double>>;
using Nodes = std::vector<std::size_t>;

void add_pair(LinkLoad& load, double bytes, double mb_s) noexcept {
    const double ratio = bytes / mb_s;
    load.largest = std::max(load.largest, ratio);
    load.sum += ratio;
}

// Depth-first search of all placements. It skips a branch whose load is already as high as the load
// of the best placement so far.
class AllWays {
  public:
    AllWays(const BandwidthMatrix& machine, const Traffic& traffic, const Nodes& now)
        : machine_(machine),
          traffic_(traffic),
          best_(now),
          best_load_(link_load(machine, traffic, now)) {
        std::sort(free_.begin(), free_.end());
    }

    Nodes run() {
        visit({});
        return best_;
    }

  private:
    void visit(const LinkLoad& load) {
        const std::size_t part = way_.size();
        if (part == best_.size()) {
            best_ = way_;
            best_load_ = load;
            return;
        }
        for (std::size_t& node : free_) {
            if (node == taken) continue;
            LinkLoad more = load;
            for (std::size_t other = 0; other < part; ++other) {
                add_pair(more, traffic_[part][other], machine_.at(node, way_[other]));
                add_pair(more, traffic_[other][part], machine_.at(way_[other], node));
            }
            if (more >= best_load_) continue;
            way_.push_back(std::exchange(node, taken));
            visit(more);
            node = way_.back();
            way_.pop_back();
        }
    }

    static constexpr std::size_t taken = SIZE_MAX;
    const BandwidthMatrix& machine_;
    const Traffic& traffic_;
    Nodes best_;
    LinkLoad best_load_;
    Nodes free_ = best_;
    Nodes way_;  // nodes of the parts that are placed so far
};

Nodes exchange(const BandwidthMatrix& machine, const Traffic& traffic, Nodes best) {
    LinkLoad best_load = link_load(machine, traffic, best);
    for (bool better = true; better;) {
        better = false;
        for (std::size_t a = 0; a < best.size(); ++a) {
            for (std::size_t b = a + 1; b < best.size(); ++b) {
                std::swap(best[a], best[b]);
                const LinkLoad load = link_load(machine, traffic, best);
                if (load < best_load) {
                    best_load = load;
                    better = true;
                } else {
                    std::swap(best[a], best[b]);
                }
            }
        }
    }
    return best;
}

}  // namespace

LinkLoad link_load(const BandwidthMatrix& machine, const Traffic& traffic, const Nodes& node_of) {
    LinkLoad load;
    for (std::size_t a = 0; a < node_of.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            add_pair(load, traffic[a][b], machine.at(node_of[a], node_of[b]));
            add_pair(load, traffic[b][a], machine.at(node_of[b], node_of[a]));
        }
    }
    return load;
}

Nodes place_parts(const BandwidthMatrix& machine, const Traffic& traffic, const Nodes& node_of) {
    NW_CHECK(traffic.size() == node_of.size());
    if (node_of.size() <= parts_all_tried) return AllWays(machine, traffic, node_of).run();
    return exchange(machine, traffic, node_of);
}

}  // namespace nw
