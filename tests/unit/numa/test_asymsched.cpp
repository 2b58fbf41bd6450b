// SPDX-License-Identifier: Apache-2.0
// Compares AsymSched's decision with a search of all placements, and limits the cost of the
// decision on 8 and 16 nodes.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <numeric>

#include "numa/decide/asymsched.hpp"
#include "numa/decide/heaviest_links.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;
using nw::test::Dice;
using nw::test::test_seeds;

namespace {

double within(const BandwidthMatrix& machine, const std::vector<std::size_t>& nodes) {
    double sum = 0;
    for (const std::size_t a : nodes)
        for (const std::size_t b : nodes)
            if (a != b) sum += machine.at(a, b);
    return sum;
}

// Returns whether threads move away from a node that their cluster still has.
bool moves_without_need(const std::vector<std::size_t>& before,
                        const std::vector<std::size_t>& after) {
    for (std::size_t k = 0; k < before.size(); ++k)
        if (after[k] != before[k] &&
            std::find(after.begin(), after.end(), before[k]) != after.end())
            return true;
    return false;
}

// Tries all maps, with every order of nodes within a cluster. The search uses no rule about which
// maps are good.
struct TriedAll {
    NodeMap best;
    std::uint64_t bytes = UINT64_MAX;
    double score = 0;
    double best_score = 0;
    std::uint64_t admissible = 0;  // counts sets of nodes, like `placements`
    std::uint64_t placements = 0;
    // True if rounding determines whether some placement is admissible.
    bool is_decided_by_rounding = false;

    TriedAll(const BandwidthMatrix& machine, const std::vector<Cluster>& clusters,
             NodeSet avoided) {
        for_each_map(machine, clusters, avoided,
                     [&](const NodeMap&, double p, std::uint64_t, bool first) {
                         best_score = std::max(best_score, p);
                         placements += first ? 1 : 0;
                     });
        for_each_map(machine, clusters, avoided,
                     [&](const NodeMap& map, double p, std::uint64_t moved, bool first) {
                         const double limit = 0.9 * best_score;
                         is_decided_by_rounding |= limit > 0 && p == Approx(limit).epsilon(1e-12);
                         if (p < limit) return;
                         admissible += first ? 1 : 0;
                         for (std::size_t c = 0; c < clusters.size(); ++c)
                             if (moves_without_need(clusters[c].nodes, map[c])) return;
                         // Scores that differ only by rounding are equal.
                         const bool as_good = p == Approx(score).epsilon(1e-12);
                         if (moved > bytes || (moved == bytes && !as_good && p < score)) return;
                         if (moved == bytes && as_good && map >= best) return;
                         best = map;
                         bytes = moved;
                         score = p;
                     });
    }

  private:
    template <class Visit>
    static void for_each_map(const BandwidthMatrix& machine, const std::vector<Cluster>& clusters,
                             NodeSet avoided, const Visit& visit) {
        std::vector<bool> taken(machine.nodes());
        NodeMap map(clusters.size());
        const std::function<void(std::size_t)> extend = [&](std::size_t i) {
            if (i == clusters.size()) {
                double p = 0;
                std::uint64_t moved = 0;
                bool first = true;  // true for one of the maps onto the same sets
                for (std::size_t c = 0; c < clusters.size(); ++c) {
                    p += std::log1p(clusters[c].remote_accesses) * within(machine, map[c]);
                    first = first && std::is_sorted(map[c].begin(), map[c].end());
                    for (std::size_t k = 0; k < map[c].size(); ++k)
                        if (map[c][k] != clusters[c].nodes[k]) moved += clusters[c].bytes[k];
                }
                visit(map, p, moved, first);
                return;
            }
            if (map[i].size() == clusters[i].nodes.size()) {
                extend(i + 1);
                return;
            }
            for (std::size_t node = 0; node < machine.nodes(); ++node) {
                if (taken[node] || is_in(avoided, node)) continue;
                taken[node] = true;
                map[i].push_back(node);
                extend(map[i].size() == clusters[i].nodes.size() ? i + 1 : i);
                map[i].pop_back();
                taken[node] = false;
            }
        };
        extend(0);
    }
};

void shuffle(std::vector<std::size_t>& numbers, Dice& dice) {
    for (std::size_t i = numbers.size(); i > 1; --i)
        std::swap(numbers[i - 1], numbers[dice.below(i)]);
}

// All bandwidths are whole MB/s, so that sums do not depend on the order.
BandwidthMatrix random_machine(Dice& dice, std::size_t nodes) {
    const std::size_t kinds = 1 + dice.below(4);
    std::vector<std::vector<double>> mb_s(nodes, std::vector<double>(nodes));
    for (std::size_t a = 0; a < nodes; ++a)
        for (std::size_t b = 0; b < nodes; ++b)
            mb_s[a][b] = a == b ? 0 : 1000.0 + 500.0 * static_cast<double>(dice.below(kinds + 1));
    return BandwidthMatrix(mb_s);
}

std::vector<Cluster> random_clusters(Dice& dice, std::size_t nodes, std::size_t clusters_max,
                                     std::size_t size_max) {
    std::vector<std::size_t> order(nodes);
    std::iota(order.begin(), order.end(), 0);
    shuffle(order, dice);
    const std::size_t gigabytes_max = dice.below(4);
    std::vector<Cluster> clusters;
    while (clusters.size() < clusters_max && !order.empty()) {
        Cluster& cluster = clusters.emplace_back();
        cluster.remote_accesses = static_cast<double>(dice.below(4)) * 1e6;
        for (std::size_t k = 1 + dice.below(size_max); k > 0 && !order.empty(); --k) {
            cluster.nodes.push_back(order.back());
            cluster.bytes.push_back(dice.below(gigabytes_max + 1) * 1'000'000'000ULL);
            order.pop_back();
        }
    }
    return clusters;
}

// Half of the results are empty. The other nodes are enough for the clusters.
NodeSet random_avoided(Dice& dice, std::size_t nodes, const std::vector<Cluster>& clusters) {
    std::size_t free = nodes;
    for (const Cluster& cluster : clusters) free -= cluster.nodes.size();
    NodeSet avoided = 0;
    if (dice.below(2) == 0) return avoided;
    for (; free > 0; --free) avoided |= NodeSet{1} << dice.below(nodes);
    return avoided;
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool is_optimized = true;
#else
constexpr bool is_optimized = false;
#endif

// Returns the CPU time of `work`. Measures up to three times, until the time is at most `allowed`.
double milliseconds_of(const std::function<void()>& work, double allowed) {
    double ms = 0;
    for (int i = 0; i < 3 && (i == 0 || ms > allowed); ++i) {
        timespec before{}, after{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
        work();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
        ms = 1e3 * static_cast<double>(after.tv_sec - before.tv_sec) +
             1e-6 * static_cast<double>(after.tv_nsec - before.tv_nsec);
    }
    return ms;
}

}  // namespace

TEST_CASE("AsymSched: the chosen placement equals the best placement of an exhaustive search") {
    const std::uint64_t seed = test_seeds(1).front();
    INFO("NUMAWARP_TEST_SEED=" << seed);
    Dice dice(seed);
    int moved = 0, stayed = 0, left = 0;
    for (int i = 0; i < 400; ++i) {
        const std::size_t nodes = 1 + dice.below(6);
        const BandwidthMatrix machine = random_machine(dice, nodes);
        const std::vector<Cluster> clusters = random_clusters(dice, nodes, 1 + dice.below(3), 4);
        const NodeSet avoided = random_avoided(dice, nodes, clusters);
        INFO("case " << i << ", avoided nodes " << avoided);
        const TriedAll expected(machine, clusters, avoided);
        if (expected.is_decided_by_rounding) continue;
        const AsymPlacement chosen = choose_placement(machine, clusters, avoided);
        for (const Cluster& cluster : clusters)
            for (const std::size_t node : cluster.nodes) left += is_in(avoided, node) ? 1 : 0;
        REQUIRE(chosen.is_proved);
        REQUIRE(chosen.placements == expected.placements);
        REQUIRE(chosen.admissible == expected.admissible);
        REQUIRE(chosen.best_score == Approx(expected.best_score).epsilon(1e-12));
        REQUIRE(chosen.bytes == expected.bytes);
        REQUIRE(chosen.score == Approx(expected.score).epsilon(1e-12));
        REQUIRE(chosen.map == expected.best);
        ++(chosen.moves_anything(clusters) ? moved : stayed);
    }
    CHECK(moved > 50);
    CHECK(stayed > 50);
    CHECK(left > 20);
}

TEST_CASE("AsymSched: a decision takes at most 10 ms on 8 nodes and 100 ms on 16 nodes") {
    const std::uint64_t seed = test_seeds(1).front();
    INFO("NUMAWARP_TEST_SEED=" << seed);
    Dice dice(seed);
    for (const auto& [count, allowed_ms] : {std::pair{8, 10.0}, std::pair{16, 100.0}}) {
        const auto nodes = static_cast<std::size_t>(count);
        int cut_short = 0;
        for (int i = 0; i < 40; ++i) {
            const std::size_t size_max = 1 + dice.below(nodes);
            const BandwidthMatrix machine = random_machine(dice, nodes);
            const std::vector<Cluster> clusters =
                random_clusters(dice, nodes, 1 + dice.below(nodes), size_max);
            bool is_proved = true;
            const double ms = milliseconds_of(
                [&] { is_proved = choose_placement(machine, clusters).is_proved; }, allowed_ms);
            INFO(nodes << " nodes, case " << i << ", " << clusters.size() << " clusters");
            cut_short += is_proved ? 0 : 1;
            if (is_optimized) CHECK(ms <= allowed_ms);
        }
        CHECK(cut_short <= (nodes == 16 ? 1 : 0));
    }
}

TEST_CASE("AsymSched: nodes with heavy traffic between them form one cluster") {
    // Nodes 0 and 1 exchange much traffic, and so do nodes 2 and 3. There is little other traffic.
    const std::vector<std::vector<double>> traffic = {
        {0, 6400, 64, 0}, {6400, 0, 0, 0}, {0, 64, 0, 6400}, {0, 0, 0, 0}};
    const std::vector<Cluster> all = make_clusters(traffic, {1, 2, 3, 4}, 0b1111);
    REQUIRE(all.size() == 2);
    CHECK(all[0].nodes == std::vector<std::size_t>{0, 1});
    CHECK(all[0].bytes == std::vector<std::uint64_t>{1, 2});
    CHECK(all[0].remote_accesses == 200);
    CHECK(all[1].nodes == std::vector<std::size_t>{2, 3});
    CHECK(all[1].remote_accesses == 100);
    // A node without threads is in no cluster. A node without traffic is the only node of its
    // cluster.
    const std::vector<Cluster> some =
        make_clusters({{0, 0, 1}, {0, 0, 0}, {0, 0, 0}}, {1, 2, 3}, 0b11);
    REQUIRE(some.size() == 2);
    CHECK(some[0].nodes == std::vector<std::size_t>{0});
    CHECK(some[1].nodes == std::vector<std::size_t>{1});
}

TEST_CASE("place_parts: minimizes the largest load of a link and then the sum of loads") {
    const std::uint64_t seed = test_seeds(1).front();
    INFO("NUMAWARP_TEST_SEED=" << seed);
    Dice dice(seed);
    int changed = 0;
    for (int i = 0; i < 200; ++i) {
        const std::size_t nodes = 1 + dice.below(6);
        const BandwidthMatrix machine = random_machine(dice, nodes);
        std::vector<std::vector<double>> traffic(nodes, std::vector<double>(nodes));
        for (auto& row : traffic)
            for (double& bytes : row) bytes = static_cast<double>(dice.below(4)) * 1000;
        std::vector<std::size_t> now(nodes), way(nodes);
        std::iota(way.begin(), way.end(), 0);
        now = way;
        shuffle(now, dice);
        LinkLoad least = link_load(machine, traffic, now);
        do {
            least = std::min(least, link_load(machine, traffic, way));
        } while (std::next_permutation(way.begin(), way.end()));
        const std::vector<std::size_t> placed = place_parts(machine, traffic, now);
        INFO("case " << i);
        CHECK(link_load(machine, traffic, placed).largest == least.largest);
        CHECK(link_load(machine, traffic, placed).sum == Approx(least.sum));
        if (placed != now) {
            ++changed;
            CHECK(link_load(machine, traffic, placed) < link_load(machine, traffic, now));
        }
    }
    CHECK(changed > 50);
}
