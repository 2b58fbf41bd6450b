// SPDX-License-Identifier: Apache-2.0
// Tests which groups change their worker, and when. The tests need no engine: their input is loads,
// and their output is moves.
#include "engine/timewarp/rank/rebind_plans.hpp"
#include "engine/timewarp/rank/rebinding.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "lp/group.hpp"
#include "memory/region/memory_source.hpp"
#include "numa/os/os.hpp"
#include "plan/config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

namespace nw {
namespace {

const std::vector<NodeId> two_on_one_node{NodeId{0}, NodeId{0}};

// Returns the load of each worker after the moves. Fails if a group is not on the worker that it
// moves from.
std::vector<double> loads_after(std::vector<BoundGroup> groups, const std::vector<GroupMove>& moves,
                                std::size_t workers) {
    for (const GroupMove& move : moves) {
        const auto group = std::find_if(groups.begin(), groups.end(),
                                        [&](const BoundGroup& g) { return g.group == move.group; });
        REQUIRE(group != groups.end());
        REQUIRE(group->worker == move.from);
        REQUIRE(move.to < workers);
        REQUIRE(move.to != move.from);
        group->worker = move.to;
    }
    std::vector<double> loads(workers);
    for (const BoundGroup& group : groups) loads[group.worker] += group.load;
    return loads;
}

TEST_CASE("Rebinding: balanced workers keep their groups") {
    const std::vector<BoundGroup> groups{{0, 0, 5}, {1, 0, 5}, {2, 1, 5}, {3, 1, 4.5}};
    CHECK(plan_moves(groups, two_on_one_node).empty());
}

TEST_CASE("Rebinding: a gain below a tenth causes no move") {
    const std::vector<BoundGroup> groups{{0, 0, 50}, {1, 0, 5}, {2, 1, 45}};
    CHECK(plan_moves(groups, two_on_one_node).empty());  // largest load: 50 instead of 55
}

TEST_CASE("Rebinding: if the move of one group balances the loads, only this group moves") {
    const std::vector<BoundGroup> groups{{0, 0, 10}, {1, 0, 10}, {2, 0, 10}, {3, 1, 10}};
    const std::vector<GroupMove> moves = plan_moves(groups, two_on_one_node);
    REQUIRE(moves.size() == 1);
    CHECK(moves[0].from == 0);
    CHECK(moves[0].to == 1);
}

TEST_CASE("Rebinding: no groups and idle groups cause no move") {
    CHECK(plan_moves(std::vector<BoundGroup>{}, two_on_one_node).empty());
    CHECK(plan_moves(std::vector<BoundGroup>{{0, 0, 0}, {1, 0, 0}}, two_on_one_node).empty());
}

TEST_CASE("Rebinding: a group that has the whole load stays") {
    const std::vector<BoundGroup> groups{{0, 0, 100}, {1, 0, 0}, {2, 1, 0}};
    CHECK(plan_moves(groups, two_on_one_node).empty());
}

TEST_CASE("Rebinding: a worker of the same node is preferred to a worker of another node") {
    const std::vector<NodeId> nodes{NodeId{0}, NodeId{1}, NodeId{0}};
    // Worker 2 is on the node of the overloaded worker 0. Worker 1 has the smallest load, and is on
    // another node.
    const std::vector<BoundGroup> groups{{0, 0, 6}, {1, 0, 1}, {2, 1, 3}, {3, 2, 3.5}};
    const std::vector<GroupMove> moves = plan_moves(groups, nodes);
    REQUIRE(moves.size() == 1);
    CHECK(moves[0].to == 2);
}

TEST_CASE("Rebinding: a loaded node gives groups to another node") {
    const std::vector<NodeId> nodes{NodeId{0}, NodeId{0}, NodeId{1}, NodeId{1}};
    std::vector<BoundGroup> groups;
    for (std::uint32_t g = 0; g < 16; ++g) groups.push_back({g, g % 2, 10});
    const std::vector<GroupMove> moves = plan_moves(groups, nodes);
    const std::vector<double> loads = loads_after(groups, moves, 4);
    CHECK(*std::max_element(loads.begin(), loads.end()) == 40);
    CHECK(moves.size() == 8);
}

TEST_CASE("Rebinding: a worker with half of a CPU gets half of the load") {
    const std::vector<NodeId> nodes(3, NodeId{0});
    std::vector<BoundGroup> groups;
    for (std::uint32_t g = 0; g < 12; ++g) groups.push_back({g, g / 4, 10});
    const std::vector<double> speeds{0.5, 1, 0.5};
    const std::vector<GroupMove> moves = plan_moves(groups, nodes, speeds);
    CHECK(loads_after(groups, moves, 3) == std::vector<double>{30, 60, 30});
    CHECK(moves.size() == 2);
    CHECK(plan_moves(groups, nodes).empty());
}

TEST_CASE("Rebinding: random loads come near the mean unless the gain would be below a tenth") {
    test::Dice dice(1);
    for (int round = 0; round < 2000; ++round) {
        const std::size_t workers = 1 + dice.below(12);
        std::vector<NodeId> nodes;
        for (std::size_t w = 0; w < workers; ++w)
            nodes.push_back(NodeId{static_cast<int>(dice.below(4))});
        std::vector<BoundGroup> groups;
        const auto count = static_cast<std::uint32_t>(dice.below(200));
        for (std::uint32_t g = 0; g < count; ++g)
            groups.push_back({g, static_cast<std::uint32_t>(dice.below(workers)),
                              dice.chance(0.2) ? 0 : static_cast<double>(dice.below(1000))});
        const std::vector<GroupMove> moves = plan_moves(groups, nodes);
        const std::vector<double> before = loads_after(groups, {}, workers);
        const std::vector<double> after = loads_after(groups, moves, workers);
        const double most_before = *std::max_element(before.begin(), before.end());
        const double most_after = *std::max_element(after.begin(), after.end());
        double longest = 0;
        for (const BoundGroup& group : groups) longest = std::max(longest, group.load);
        const double mean =
            std::accumulate(before.begin(), before.end(), 0.0) / static_cast<double>(workers);
        INFO("round " << round);
        if (moves.empty()) {
            // Moves could not have lowered the largest load by a tenth: after moves, the largest
            // load is at most the mean plus 3 % plus the load of one group.
            CHECK(most_before * 0.9 <= mean * 1.03 + longest);
        } else {
            CHECK(most_after <= 0.9 * most_before);
            CHECK(most_after <= mean * 1.03 + longest);
        }
    }
}

TEST_CASE(
    "Rebinding: the number of random moves is near the requested share and depends on the seed") {
    std::vector<BoundGroup> groups;
    for (std::uint32_t g = 0; g < 10'000; ++g) groups.push_back({g, g % 8, 1});
    const std::vector<GroupMove> moves = draw_moves(groups, 8, 0.5, 7);
    CHECK(moves.size() > 4800);
    CHECK(moves.size() < 5200);
    std::map<std::uint32_t, int> receivers;
    for (const GroupMove& move : moves) {
        CHECK(move.to != move.from);
        ++receivers[move.to];
    }
    CHECK(receivers.size() == 8);
    CHECK(draw_moves(groups, 8, 0.5, 7) == moves);
    CHECK(draw_moves(groups, 8, 0.5, 8) != moves);
    CHECK(draw_moves(groups, 8, 0, 7).empty());
    CHECK(draw_moves(groups, 8, 1, 7).size() == groups.size());
    CHECK(draw_moves(groups, 1, 1, 7).empty());
}

TEST_CASE("knapsack: first fit below the mean, and the rest in turn") {
    // The mean is 12. Sorted by load: 9, 7, 6, 5, 4, 3, 2. One group for each worker: 9, 7, 6. Then
    // 5 fits on worker 1 (7 + 5 = 12) and 4 on worker 2 (6 + 4 = 10); 3 fits on worker 0 (9 + 3). 2
    // fits on worker 2 (10 + 2).
    const std::vector<BoundGroup> groups{{0, 0, 2}, {1, 0, 9}, {2, 1, 3}, {3, 1, 7},
                                         {4, 2, 4}, {5, 2, 6}, {6, 0, 5}};
    const std::vector<GroupMove> moves = plan_by_knapsack(groups, 3, false);
    CHECK(loads_after(groups, moves, 3) == std::vector<double>{12, 12, 12});
    CHECK(moves == std::vector<GroupMove>{{6, 0, 1}, {2, 1, 0}, {0, 0, 2}});
}

TEST_CASE("knapsack: once a group does not fit, this group and the rest are dealt out in turn") {
    // The mean is 10. The groups 6 and 6 go to workers 0 and 1. The group 5 does not fit, so 5, 2
    // and 1 go to workers 0, 1 and 0, although 2 would fit on worker 0.
    const std::vector<BoundGroup> groups{{0, 0, 6}, {1, 0, 6}, {2, 0, 5}, {3, 0, 2}, {4, 0, 1}};
    CHECK(plan_by_knapsack(groups, 2, false) == std::vector<GroupMove>{{1, 0, 1}, {3, 0, 1}});
}

std::vector<std::size_t> groups_of_workers(std::vector<BoundGroup> groups,
                                           const std::vector<GroupMove>& moves,
                                           std::uint32_t workers) {
    for (const GroupMove& move : moves) groups[move.group].worker = move.to;
    std::vector<std::size_t> counts(workers);
    for (const BoundGroup& group : groups) ++counts[group.worker];
    return counts;
}

TEST_CASE("knapsack: the present owner is ignored, and the mistake moves other groups, not more") {
    test::Dice dice(3);
    for (int round = 0; round < 500; ++round) {
        const auto workers = static_cast<std::uint32_t>(1 + dice.below(8));
        std::vector<BoundGroup> groups, elsewhere;
        const auto count = static_cast<std::uint32_t>(1 + dice.below(60));
        for (std::uint32_t g = 0; g < count; ++g) {
            groups.push_back({g, static_cast<std::uint32_t>(dice.below(workers)),
                              static_cast<double>(1 + dice.below(1000))});
            elsewhere.push_back({g, 0, groups.back().load});
        }
        INFO("round " << round);
        const std::vector<GroupMove> moves = plan_by_knapsack(groups, workers, false);
        CHECK(loads_after(groups, moves, workers) ==
              loads_after(elsewhere, plan_by_knapsack(elsewhere, workers, false), workers));
        CHECK(groups_of_workers(groups, plan_by_knapsack(groups, workers, true), workers) ==
              groups_of_workers(groups, moves, workers));
    }
}

TEST_CASE("knapsack: equal loads fit exactly, and groups without load stay") {
    std::vector<BoundGroup> groups;
    for (std::uint32_t g = 0; g < 6; ++g) groups.push_back({g, 0, 1});
    CHECK(loads_after(groups, plan_by_knapsack(groups, 3, false), 3) ==
          std::vector<double>{2, 2, 2});
    CHECK(groups_of_workers(groups, plan_by_knapsack(groups, 3, false), 3) ==
          std::vector<std::size_t>{2, 2, 2});
    for (BoundGroup& group : groups) group.load = 0;
    CHECK(plan_by_knapsack(groups, 3, false).empty());
}

TEST_CASE("knapsack: with the mistake of ROOT-Sim, groups move although loads are balanced") {
    // Each worker has one group with a high load and three groups with a low load. Sorted by load,
    // the four first groups are the groups with a high load.
    std::vector<BoundGroup> groups;
    for (std::uint32_t g = 0; g < 16; ++g) groups.push_back({g, g / 4, g % 4 == 0 ? 20.0 : 2.0});
    CHECK(loads_after(groups, plan_by_knapsack(groups, 4, false), 4) ==
          std::vector<double>{26, 26, 26, 26});
    CHECK(loads_after(groups, plan_by_knapsack(groups, 4, true), 4) ==
          std::vector<double>{44, 26, 26, 8});
}

TEST_CASE("--rebind-policy knapsack: the plan follows one round later, from the backlogs") {
    MemorySource source(linux_os(), MemoryMode::libc, 4);
    std::vector<std::unique_ptr<Group>> groups;
    for (std::uint32_t g = 0; g < 4; ++g) groups.push_back(std::make_unique<Group>(source, g));
    std::vector<std::uint32_t> owners{0, 0, 1, 1};
    const auto owner = [&](std::uint32_t g) { return owners[g]; };
    Config config;
    config.rebind_seconds = 1;
    config.rebind_policy = RebindPolicy::knapsack;
    const CpuAssignments assignments(two_on_one_node);
    Rebinding rebinding(config, false, assignments);
    const Rebinding::Clock::time_point start{std::chrono::seconds(100)};
    rebinding.make_plan(5, start, groups, owner);
    CHECK_FALSE(rebinding.wants_backlogs(6));
    for (const auto& group : groups) group->load.commit(10);  // 200 ns per event
    rebinding.make_plan(6, start + std::chrono::seconds(1), groups, owner);
    CHECK(rebinding.plan().round == first_round);
    CHECK_FALSE(rebinding.wants_backlogs(6));
    REQUIRE(rebinding.wants_backlogs(7));
    // Workloads: 10, 30, 20 and 2. The last one is by the shortest span of another group, because
    // the event is at GVT. The mean is 31, so worker 0 gets groups 1 and 3, and worker 1 the
    // others. The owners have changed since round 6.
    groups[0]->load.note_backlog(5, 100);
    groups[1]->load.note_backlog(15, 100);
    groups[2]->load.note_backlog(20, 200);
    groups[3]->load.note_backlog(1, 0);
    owners = {1, 0, 0, 1};
    rebinding.make_plan(7, start + std::chrono::seconds(1), groups, owner);
    CHECK(rebinding.plan().round == 7);
    CHECK(rebinding.plan().moves == std::vector<GroupMove>{{2, 0, 1}, {3, 1, 0}});
    // Moves between ranks are planned by committed work.
    for (const BoundGroup& group : rebinding.last_sample(groups, owner)) CHECK(group.load == 2000);
}

TEST_CASE("LoadMeter: work is counted once and a preempted handler does not count as work") {
    LoadMeter load;
    for (int i = 0; i < 200; ++i) load.sample(100);
    load.take();
    load.commit(10);
    const double work = load.take();
    CHECK(work > 990);
    CHECK(work < 1010);
    CHECK(load.take() == 0);
    load.sample(1e9);  // preempted
    load.commit(10);
    CHECK(load.take() < 2000);
}

}  // namespace
}  // namespace nw
