// SPDX-License-Identifier: Apache-2.0
// Tests --place asymsched on a fake machine with four nodes. The tests call the policy as the
// engine does. The links between nodes 0 and 2, and between nodes 1 and 3, are good; all other
// links are bad.
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "numa/place/placement_policy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace nw;

namespace {

constexpr NodeId n0{0}, n1{1}, n2{2}, n3{3};

struct Run {
    nw::test::TemporaryFolder folder;
    std::string file = folder.path() + "/machine.json";
    FakeOs os{4, 2};
    std::unique_ptr<PlacementPolicy> policy;
    PlacementPeriod period;

    // Each of `nodes` has this number of workers; every worker sends to every other worker.
    explicit Run(const std::vector<NodeId>& nodes, int workers_a_node = 2) {
        std::ofstream(file)
            << R"({"bw": [[0, 1, 9, 1], [1, 0, 1, 8], [9, 1, 0, 1], [1, 8, 1, 0]]})";
        PolicyInputs inputs{
            .machine_file = file, .huge_pages = HugePages::off, .places = {}, .slots = {}};
        for (const NodeId node : nodes) {
            for (int k = 0; k < workers_a_node; ++k)
                inputs.places.push_back({index(node) * 2 + k, node});
            period.homes[node] = {1'000'000'000, 0};
        }
        const std::size_t workers = inputs.places.size();
        period.traffic.assign(workers, std::vector<double>(workers, 6400));
        policy = asymsched_placement.make(os, inputs);
        period.seconds = 100;
    }
    PlacementOrders next(double seconds) {
        period.seconds += seconds;
        return policy->on_period(period);
    }
};

}  // namespace

TEST_CASE("asymsched: workers of one badly connected node move to free CPUs of another node") {
    Run run({n0, n1});
    REQUIRE(run.next(1).move_workers);
    const std::vector<Place> places = run.policy->worker_places();
    CHECK(places == std::vector<Place>{{0, n0}, {1, n0}, {4, n2}, {5, n2}});
    CHECK(run.policy->report() ==
          "at 101.0 s, period 1, from nodes 0 1 to 0 2, 1.00 GB, P 120 of 120; on nodes 0 2; "
          "traffic by mail, "
          "links by " +
              run.file);
    // Pages are on the node of their worker. The links do not change this.
    CHECK(run.policy->node_of(nullptr, n2) == n2);
    CHECK_FALSE(run.policy->spreads());
}

TEST_CASE(
    "asymsched: workers stay if the score of their placement is at least 0.9 of the best score") {
    Run best({n0, n2});
    CHECK_FALSE(best.next(1).move_workers);
    Run without_traffic({n0, n1});
    for (auto& row : without_traffic.period.traffic) row.assign(row.size(), 0);
    CHECK_FALSE(without_traffic.next(1).move_workers);
}

TEST_CASE(
    "asymsched: while the budget is too small, workers stay and this is reported; they move "
    "later") {
    Run run({n0, n1});
    run.period.seconds = 0;
    CHECK_FALSE(run.next(5.9).move_workers);
    CHECK(
        run.policy->report().starts_with("P 120 of 120; workers stay: 1.00 GB would take 0.30 s; "
                                         "the limit is 5 % of 5.9 s, of which 0.00 s are used"));
    CHECK(run.next(0.2).move_workers);
    CHECK(run.policy->report().find("P 120 of 120, postponed by 0.2 s because of the cost") !=
          std::string::npos);
}

TEST_CASE(
    "asymsched: the time of a move reduces the budget of the next move and predicts the cost") {
    Run run({n0, n1, n2, n3});
    for (auto& row : run.period.traffic) row.assign(row.size(), 0);
    run.period.migration_seconds = 90;  // used by pagemigd for other reasons
    run.period.traffic[0][2] = 64'000;  // from a worker of node 0 to a worker of node 1
    REQUIRE(run.next(1).move_workers);
    // Now another pair of nodes has the heaviest traffic, so workers should move again. But the
    // move of a gigabyte has taken 4 s.
    run.period.traffic[0][2] = 0;
    run.period.traffic[0][4] = 64'000;
    run.period.migration_seconds += 4;
    run.period.migrated_bytes += 1'000'000'000;
    CHECK_FALSE(run.next(1).move_workers);
    CHECK(run.policy->report().find("of which 4.00 s are used") != std::string::npos);
    CHECK(run.next(1000).move_workers);
}

TEST_CASE("asymsched: pages that do not follow their workers are fetched once after two seconds") {
    Run run({n0, n1});
    REQUIRE(run.next(1).move_workers);
    run.period.homes = {{n0, {1'000'000'000, 0}}, {n2, {1'000'000'000, 0.95}}};
    CHECK_FALSE(run.next(1).fetch);
    const PlacementOrders orders = run.next(1.1);
    CHECK(orders.fetch);
    CHECK_FALSE(orders.move_workers);
    CHECK_FALSE(run.next(1).fetch);
    CHECK(run.policy->report().find("pages fetched at a pause") != std::string::npos);
}

TEST_CASE("asymsched: the time of a fetch counts even if workers complete the fetch late") {
    Run run({n0, n1});
    REQUIRE(run.next(1).move_workers);
    run.period.homes = {{n0, {1'000'000'000, 0}}, {n2, {1'000'000'000, 0.95}}};
    REQUIRE(run.next(2).fetch);
    CHECK_FALSE(run.next(1).move_workers);
    run.period.homes = {{n0, {1'000'000'000, 0}}, {n2, {1'000'000'000, 0}}};
    run.period.migration_seconds += 8;
    run.period.migrated_bytes += 1'000'000'000;
    run.next(1);
    // The workers are back on their first nodes. Another move would be useful, but its cost is too
    // high.
    run.policy->on_cpus(Topology(run.os), {{0, n0}, {1, n0}, {2, n1}, {3, n1}});
    run.period.homes = {{n0, {1'000'000'000, 0}}, {n1, {1'000'000'000, 0}}};
    CHECK_FALSE(run.next(1).move_workers);
    CHECK(run.policy->report().find("1.00 GB would take 8.00 s") != std::string::npos);
    CHECK(run.policy->report().find("of which 8.00 s are used") != std::string::npos);
}

TEST_CASE("asymsched: if the CPUs change, the time of the unfinished move counts") {
    Run run({n0, n1});
    REQUIRE(run.next(1).move_workers);
    run.period.homes = {{n0, {1'000'000'000, 0}}, {n2, {1'000'000'000, 0.95}}};
    run.period.migration_seconds += 6;
    run.period.migrated_bytes += 1'000'000'000;
    run.policy->on_cpus(Topology(run.os), {{0, n0}, {1, n0}, {2, n1}, {3, n1}});
    run.period.homes = {{n0, {1'000'000'000, 0}}, {n1, {1'000'000'000, 0}}};
    CHECK_FALSE(run.next(1).move_workers);
    CHECK(run.policy->report().find("of which 6.00 s are used") != std::string::npos);
}

TEST_CASE(
    "asymsched: while pages still follow their workers, no decision is made for half a minute") {
    Run run({n0, n1, n2, n3});
    for (auto& row : run.period.traffic) row.assign(row.size(), 0);
    run.period.traffic[0][2] = 64'000;  // from a worker of node 0 to a worker of node 1
    REQUIRE(run.next(1).move_workers);
    // Now another pair of nodes has the heaviest traffic, so workers should move again.
    run.period.traffic[0][2] = 0;
    run.period.traffic[0][4] = 64'000;
    for (auto& [node, home] : run.period.homes) home.remote_share = 0.5;
    for (int i = 0; i < 29; ++i) {
        const PlacementOrders orders = run.next(1);
        CHECK_FALSE(orders.fetch);
        CHECK_FALSE(orders.move_workers);
    }
    CHECK(run.next(1).move_workers);
}

TEST_CASE("asymsched: nodes without enough CPUs for the workers are not chosen") {
    Run run({n0, n1});
    run.os.set_allowed_cpus({0, 1, 2, 3, 4, 6, 7});  // node 2 has one CPU left
    run.policy->on_cpus(Topology(run.os), {{0, n0}, {1, n0}, {2, n1}, {3, n1}});
    REQUIRE(run.next(1).move_workers);
    CHECK(run.policy->worker_places() == std::vector<Place>{{6, n3}, {7, n3}, {2, n1}, {3, n1}});
}

TEST_CASE("asymsched: nodes that other programs use are not chosen") {
    Run run({n0, n1});
    run.period.others = {{0, 0.1}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0.5}, {6, 0}, {7, 0}};
    REQUIRE(run.next(1).move_workers);
    CHECK(run.policy->worker_places() == std::vector<Place>{{6, n3}, {7, n3}, {2, n1}, {3, n1}});
}

TEST_CASE("asymsched: workers leave a node whose CPUs they share with other programs") {
    Run run({n0, n2});
    run.period.others = {{0, 0.5}, {1, 0.5}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}};
    REQUIRE(run.next(1).move_workers);
    // Without node 0, nodes 1 and 3 have the best links.
    CHECK(run.policy->worker_places() == std::vector<Place>{{2, n1}, {3, n1}, {6, n3}, {7, n3}});
    CHECK(run.policy->report().find("2 workers shared their CPUs with other programs") !=
          std::string::npos);
    CHECK(run.os.has_turn());
    CHECK_FALSE(run.next(1).move_workers);
    CHECK_FALSE(run.os.has_turn());
}

TEST_CASE("asymsched: a worker leaves a shared CPU for a free CPU of its node") {
    Run run({n0}, 1);
    run.period.others = {{0, 0.5}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}};
    REQUIRE(run.next(1).move_workers);
    CHECK(run.policy->worker_places() == std::vector<Place>{{1, n0}});
    CHECK(run.policy->report().starts_with("at 101.0 s, period 1, from nodes 0 to 0, 0.00 GB"));
}

TEST_CASE("asymsched: workers stay if other programs use all other nodes") {
    Run run({n0, n1});
    for (int cpu = 0; cpu < 8; ++cpu) run.period.others[cpu] = 0.9;
    CHECK_FALSE(run.next(1).move_workers);
    CHECK(run.policy->report().starts_with("no choice; other programs use nodes 0 1 2 3;"));
}

TEST_CASE("asymsched: workers stay while another run moves its workers") {
    Run run({n0, n1});
    run.os.set_turn_of_another(true);
    CHECK_FALSE(run.next(1).move_workers);
    CHECK(run.policy->report().starts_with("workers stay: another run of this machine moves"));
    run.os.set_turn_of_another(false);
    CHECK(run.next(1).move_workers);
}

TEST_CASE("asymsched: on a full machine the heaviest traffic gets the best links") {
    Run run({n0, n1, n2, n3});
    for (auto& row : run.period.traffic) row.assign(row.size(), 0);
    run.period.traffic[0][2] = 64'000;  // from node 0 to node 1
    run.period.traffic[4][6] = 32'000;  // from node 2 to node 3
    REQUIRE(run.next(1).move_workers);
    std::vector<int> nodes;
    for (const Place& place : run.policy->worker_places()) nodes.push_back(index(place.node));
    const auto linked = [](int a, int b) { return (a % 2) == (b % 2) && a != b; };
    CHECK(linked(nodes[0], nodes[2]));
    CHECK(nodes[0] % 2 == 0);
    CHECK(linked(nodes[4], nodes[6]));
    CHECK(std::set<int>(nodes.begin(), nodes.end()).size() == 4);
    run.period.homes.clear();
    CHECK_FALSE(run.next(3).move_workers);
}

TEST_CASE("asymsched: workers stay with their pages if pages cannot follow") {
    Run run({n0, n1});
    run.period.homes.clear();
    CHECK_FALSE(run.next(1).move_workers);
    CHECK(run.policy->report().find(
              "workers stay: the kernel does not report the nodes of pages; on nodes 0 1") == 0);
}

TEST_CASE("asymsched: a process on one node reports that there is no choice") {
    Run run({n0, n1});
    run.os.set_allowed_cpus({0, 1});
    run.policy->on_cpus(Topology(run.os), {{0, n0}, {1, n0}, {0, n0}, {1, n0}});
    CHECK_FALSE(run.next(1).move_workers);
    CHECK(run.policy->report().find(
              "no choice: fewer than two nodes have enough CPUs of this process") !=
          std::string::npos);
}

TEST_CASE("asymsched: on a machine with one node the policy requests nothing") {
    FakeOs os{1, 2};
    const auto policy =
        asymsched_placement.make(os, {.machine_file = "", .places = {{0, n0}}, .slots = {}});
    CHECK(policy->period_seconds() == 0);
    CHECK_FALSE(policy->wants_homes());
    CHECK_FALSE(policy->moves_pages());
}
