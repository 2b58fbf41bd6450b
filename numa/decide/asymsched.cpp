// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/asymsched.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

#include "util/check.hpp"

namespace nw {
namespace {

constexpr double line_bytes = 64;

// Rounding errors: two sums of the same terms in different orders may differ by this share of their
// value.
constexpr double rounding = 1e-12;

// Limits of the search, as numbers of examined subsets. After looks_for_counting subsets,
// admissible placements are no longer counted. After looks_max subsets, the search returns the best
// placement that it has found. The limits keep a decision within the time that
// tests/unit/numa/test_asymsched.cpp allows. Few cases of that test reach looks_max.
constexpr std::uint64_t looks_for_counting = 3'000'000;
constexpr std::uint64_t looks_max = 20'000'000;
// The number of subsets that can be examined in the time of one compare_with_result().
constexpr std::uint64_t looks_of_a_comparison = 30;

constexpr NodeSet bit(std::size_t node) noexcept { return NodeSet{1} << node; }

std::size_t size(NodeSet set) noexcept { return static_cast<std::size_t>(std::popcount(set)); }

// Calls visit(subset) for every subset of `set` with `wanted` nodes, in the order of the subsets'
// node numbers.
template <class Visit>
void for_each_subset(NodeSet set, std::size_t wanted, const Visit& visit, NodeSet chosen = 0) {
    if (wanted == 0) {
        visit(chosen);
        return;
    }
    for (; size(set) >= wanted; set &= set - 1) {
        const NodeSet first = set & (~set + 1);
        for_each_subset(set ^ first, wanted - 1, visit, chosen | first);
    }
}

class Search {
  public:
    Search(const BandwidthMatrix& machine, const std::vector<Cluster>& clusters, NodeSet avoided)
        : clusters_(clusters), all_((NodeSet{1} << machine.nodes()) - 1), usable_(all_ & ~avoided) {
        for (const Cluster& cluster : clusters)
            weights_.push_back(std::log1p(cluster.remote_accesses));
        sum_bandwidths(machine);
        find_bounds();
        list_choices();
    }

    AsymPlacement run() {
        result_.placements = count_placements();
        result_.best_score = best_score();
        admissible_from_ = admissible_share * result_.best_score;
        stay();
        visit(0, usable_, 0, 0);
        if (counting_) result_.admissible = admissible_;
        result_.is_proved = looks_ <= looks_max;
        return std::move(result_);
    }

  private:
    // A set of nodes that can be assigned to a cluster.
    struct Choice {
        NodeSet set;
        std::uint64_t bytes;  // bytes that move from other nodes to `set`
        double score;         // of the cluster on `set`
    };

    void sum_bandwidths(const BandwidthMatrix& machine) {
        within_.assign(std::size_t{all_} + 1, 0);
        for (NodeSet set = 1; set <= all_; ++set) {
            const auto a = static_cast<std::size_t>(std::countr_zero(set));
            NodeSet rest = set & (set - 1);
            double sum = within_[rest];
            for (; rest != 0; rest &= rest - 1) {
                const auto b = static_cast<std::size_t>(std::countr_zero(rest));
                sum += machine.at(a, b) + machine.at(b, a);
            }
            within_[set] = sum;
        }
    }

    double score_of(std::size_t cluster, NodeSet set) const noexcept {
        return weights_[cluster] * within_[set];
    }

    // bounds_[i][free]: the highest score that clusters i, i + 1, … can reach on the nodes `free`.
    // It is computed only for sets of one size: the number of nodes that are free after the
    // clusters before i are placed.
    void find_bounds() {
        bounds_.assign(clusters_.size() + 1, std::vector<double>(std::size_t{all_} + 1, 0));
        std::vector<std::size_t> free_nodes{size(usable_)};
        for (const Cluster& cluster : clusters_)
            free_nodes.push_back(free_nodes.back() - cluster.nodes.size());
        for (std::size_t i = clusters_.size(); i-- > 0;) {
            for_each_subset(usable_, free_nodes[i], [&](NodeSet free) {
                double most = 0;
                for_each_subset(free, clusters_[i].nodes.size(), [&](NodeSet set) {
                    most = std::max(most, score_of(i, set) + bounds_[i + 1][free ^ set]);
                });
                bounds_[i][free] = most;
            });
        }
    }

    // Lists the choices for each cluster. Choices that move fewer bytes come first; if the bytes
    // are equal, choices with a higher score come first.
    void list_choices() {
        for (std::size_t i = 0; i < clusters_.size(); ++i) {
            std::vector<Choice>& choices = choices_.emplace_back();
            for_each_subset(usable_, clusters_[i].nodes.size(), [&](NodeSet set) {
                choices.push_back({set, bytes_outside(i, set), score_of(i, set)});
            });
            std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
                return std::tuple(a.bytes, -a.score) < std::tuple(b.bytes, -b.score);
            });
        }
    }

    std::uint64_t count_placements() const {
        std::uint64_t count = 1;
        std::size_t free = size(usable_);
        for (const Cluster& cluster : clusters_)
            for (std::size_t k = 1; k <= cluster.nodes.size(); ++k, --free)
                count = count * free / k;
        return count;
    }

    // Returns the P of a best placement. The terms of P are added in the same order as for every
    // other placement.
    double best_score() const {
        double score = 0;
        NodeSet free = usable_;
        for (std::size_t i = 0; i < clusters_.size(); ++i) {
            const auto best =
                std::find_if(choices_[i].begin(), choices_[i].end(), [&](const Choice& choice) {
                    return (choice.set & ~free) == 0 &&
                           choice.score + bounds_[i + 1][free ^ choice.set] == bounds_[i][free];
                });
            NW_CHECK(best != choices_[i].end());
            score += best->score;
            free ^= best->set;
        }
        return score;
    }

    // Bytes of the cluster's memory that are on nodes outside of `set`.
    std::uint64_t bytes_outside(std::size_t cluster, NodeSet set) const noexcept {
        std::uint64_t bytes = 0;
        for (std::size_t k = 0; k < clusters_[cluster].nodes.size(); ++k)
            if ((set & bit(clusters_[cluster].nodes[k])) == 0) bytes += clusters_[cluster].bytes[k];
        return bytes;
    }

    // Returns the new node of each node of the cluster if `set` is assigned to the cluster. A node
    // of the cluster that is also in `set` keeps its threads and memory. The other nodes of the
    // cluster, in their order, are mapped to the remaining nodes of `set`, in the order of node
    // numbers.
    std::vector<std::size_t> map_onto(std::size_t cluster, NodeSet set) const {
        const std::vector<std::size_t>& nodes = clusters_[cluster].nodes;
        NodeSet fresh = set;
        for (const std::size_t node : nodes) fresh &= ~bit(node);
        std::vector<std::size_t> map;
        for (const std::size_t node : nodes) {
            if ((set & bit(node)) != 0) {
                map.push_back(node);
            } else {
                map.push_back(static_cast<std::size_t>(std::countr_zero(fresh)));
                fresh &= fresh - 1;
            }
        }
        return map;
    }

    void keep(std::uint64_t bytes, double score) {
        result_.map.clear();
        for (std::size_t i = 0; i < clusters_.size(); ++i)
            result_.map.push_back(map_onto(i, chosen_[i]));
        result_.bytes = bytes;
        result_.score = score;
        kept_ = chosen_;
    }

    // Compares the chosen node numbers of the first `clusters` clusters with those in the result.
    // Returns < 0 if the chosen numbers are smaller (in lexicographic order), and 0 if both are
    // equal.
    int compare_with_result(std::size_t clusters) {
        for (std::size_t i = 0; i < clusters; ++i) {
            if (chosen_[i] == kept_[i]) continue;
            looks_ += looks_of_a_comparison;
            return map_onto(i, chosen_[i]) < result_.map[i] ? -1 : 1;
        }
        return 0;
    }

    // Stores the present placement as the first result. The search compares all other placements
    // with the result.
    void stay() {
        double score = 0;
        bool is_allowed = true;
        for (const Cluster& cluster : clusters_) {
            NodeSet set = 0;
            for (const std::size_t node : cluster.nodes) set |= bit(node);
            score += score_of(chosen_.size(), set);
            is_allowed = is_allowed && (set & ~usable_) == 0;
            chosen_.push_back(set);
        }
        has_result_ = is_allowed && score >= admissible_from_;
        keep(0, score);
    }

    // Returns true if no choice for the clusters from `depth` on can lead to a better placement
    // than the result. If the best possible placement is exactly as good as the result, the node
    // numbers of the clusters before `depth` are compared.
    bool is_out_of_question(std::size_t depth, std::uint64_t bytes_min, double score_max) {
        if (!has_result_) return false;
        if (bytes_min != result_.bytes) return bytes_min > result_.bytes;
        if (score_max < result_.score * (1 - rounding)) return true;
        if (score_max > result_.score * (1 + rounding)) return false;
        return compare_with_result(depth) > 0;
    }

    // Tries all choices for the clusters from `depth` on. The clusters before `depth` already have
    // nodes; they move `bytes` bytes and have the score `score`.
    void visit(std::size_t depth, NodeSet free, std::uint64_t bytes, double score) {
        if (depth == clusters_.size()) {
            reach(bytes, score);
            return;
        }
        for (const Choice& choice : choices_[depth]) {
            counting_ = counting_ && looks_ < looks_for_counting;
            if (++looks_ > looks_max && has_result_) return;
            if (!counting_ && has_result_ && bytes + choice.bytes > result_.bytes) return;
            if ((choice.set & ~free) != 0) continue;
            const NodeSet left = free ^ choice.set;
            const double score_max = score + choice.score + bounds_[depth + 1][left];
            if (score_max < admissible_from_ * (1 - rounding)) continue;
            chosen_[depth] = choice.set;
            if (!counting_) {
                std::uint64_t bytes_min = bytes + choice.bytes;
                for (std::size_t i = depth + 1; i < clusters_.size(); ++i)
                    bytes_min += bytes_outside(i, left);
                if (is_out_of_question(depth + 1, bytes_min, score_max)) continue;
            }
            visit(depth + 1, left, bytes + choice.bytes, score + choice.score);
        }
    }

    void reach(std::uint64_t bytes, double score) {
        if (score < admissible_from_) return;
        ++admissible_;
        if (is_out_of_question(clusters_.size(), bytes, score)) return;
        has_result_ = true;
        keep(bytes, score);
    }

    const std::vector<Cluster>& clusters_;
    const NodeSet all_;
    const NodeSet usable_;
    std::vector<double> weights_;              // by cluster
    std::vector<double> within_;               // by set: sum of the bandwidths between its nodes
    std::vector<std::vector<double>> bounds_;  // see find_bounds()
    std::vector<std::vector<Choice>> choices_;
    double admissible_from_ = 0;

    std::vector<NodeSet> chosen_;  // by cluster
    std::vector<NodeSet> kept_;    // chosen_ of the result
    std::uint64_t looks_ = 0;
    bool counting_ = true;
    std::uint64_t admissible_ = 0;
    bool has_result_ = false;  // whether result_ is admissible
    AsymPlacement result_;
};

}  // namespace

bool AsymPlacement::moves_anything(const std::vector<Cluster>& clusters) const {
    for (std::size_t i = 0; i < clusters.size(); ++i)
        if (map[i] != clusters[i].nodes) return true;
    return false;
}

AsymPlacement choose_placement(const BandwidthMatrix& machine, const std::vector<Cluster>& clusters,
                               NodeSet avoided) {
    NodeSet used = 0;
    for (const Cluster& cluster : clusters) {
        NW_CHECK(cluster.bytes.size() == cluster.nodes.size());
        for (const std::size_t node : cluster.nodes) {
            NW_CHECK(node < machine.nodes());
            NW_CHECK((used & bit(node)) == 0);
            used |= bit(node);
        }
    }
    NW_CHECK(size(used) + size(avoided) <= machine.nodes());
    return Search(machine, clusters, avoided).run();
}

std::vector<Cluster> make_clusters(const std::vector<std::vector<double>>& traffic,
                                   const std::vector<std::uint64_t>& bytes, NodeSet used) {
    const std::size_t nodes = traffic.size();
    const auto between = [&](std::size_t a, std::size_t b) {
        return traffic[a][b] + traffic[b][a];
    };
    std::vector<double> all(nodes, 0);
    for (std::size_t a = 0; a < nodes; ++a)
        for (std::size_t b = 0; b < nodes; ++b)
            if (a != b) all[a] += between(a, b);
    std::vector<std::size_t> cluster_of(nodes);  // the cluster's number is its first node
    std::iota(cluster_of.begin(), cluster_of.end(), 0);
    for (std::size_t a = 0; a < nodes; ++a) {
        for (std::size_t b = a + 1; b < nodes; ++b) {
            const double shared = between(a, b);
            if (shared <= 0 || shared < shares_data_from * std::min(all[a], all[b])) continue;
            const auto [kept, gone] = std::minmax(cluster_of[a], cluster_of[b]);
            std::replace(cluster_of.begin(), cluster_of.end(), std::size_t{gone},
                         std::size_t{kept});
        }
    }
    std::vector<Cluster> clusters;
    for (std::size_t first = 0; first < nodes; ++first) {
        Cluster cluster;
        for (std::size_t a = 0; a < nodes; ++a) {
            if (cluster_of[a] != first || (used & bit(a)) == 0) continue;
            for (const std::size_t b : cluster.nodes) cluster.remote_accesses += between(a, b);
            cluster.nodes.push_back(a);
            cluster.bytes.push_back(bytes[a]);
        }
        cluster.remote_accesses /= line_bytes;
        if (!cluster.nodes.empty()) clusters.push_back(std::move(cluster));
    }
    return clusters;
}

}  // namespace nw
