// SPDX-License-Identifier: Apache-2.0
// Tests when groups should move to another rank, and which groups. The tests need no engine: their
// input is loads, and their output is moves.
#include "engine/timewarp/rank/rank_balance.hpp"

#include <chrono>
#include <map>
#include <vector>

#include "tests/support/catch.hpp"

namespace nw {
namespace {

using std::chrono::milliseconds;

constexpr MovePrice free_of_charge{0, UINT64_MAX};

RankLoads::OfGroup group(std::uint32_t number, std::uint32_t worker, double load,
                         std::uint64_t bytes = 0, bool stays = false) {
    return {{number, worker, load, stays}, bytes};
}

std::vector<double> loads_after(const std::vector<RankLoads>& ranks,
                                const std::vector<RankMove>& moves) {
    std::vector<double> loads(ranks.size());
    std::map<std::uint32_t, double> load_of;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (const auto& [bound, bytes] : ranks[r].groups) {
            loads[r] += bound.load;
            load_of[bound.group] = bound.load;
        }
    for (const RankMove& move : moves) {
        loads[move.from.rank] -= load_of.at(move.group);
        loads[move.to.rank] += load_of.at(move.group);
    }
    return loads;
}

TEST_CASE("RankBalance: groups move from the most loaded rank to the least loaded worker") {
    const std::vector<RankLoads> ranks{
        {NodeId{0}, {group(0, 0, 10), group(1, 0, 10), group(2, 1, 10), group(3, 1, 10)}},
        {NodeId{0}, {group(4, 0, 15), group(5, 1, 5)}}};
    const std::vector<RankMove> moves = plan_rank_moves(ranks, 2, free_of_charge);
    REQUIRE(moves.size() == 1);
    CHECK(moves[0].from.rank == 0);
    CHECK((moves[0].to == Partition::Owner{1, 1}));
    CHECK(loads_after(ranks, moves) == std::vector<double>{30, 30});
}

TEST_CASE("RankBalance: a rank on the same host is preferred") {
    const std::vector<RankLoads> ranks{
        {NodeId{0}, {group(0, 0, 10), group(1, 0, 10), group(2, 0, 10)}},
        {NodeId{1}, {group(3, 0, 1)}},
        {NodeId{0}, {group(4, 0, 2)}}};
    const std::vector<RankMove> moves = plan_rank_moves(ranks, 1, free_of_charge);
    REQUIRE(!moves.empty());
    CHECK(moves[0].to.rank != 0);
    const std::vector<double> loads = loads_after(ranks, moves);
    CHECK(loads[2] > 2);
}

TEST_CASE("RankBalance: the gain after the cost of the move must be at least a tenth") {
    // The loads are 20 and 10. The move of the group with load 5 lowers the maximum to 15. A gain
    // of 2 must remain, so the move may cost 3.
    for (const double ns_per_byte : {0.0, 2.9, 3.1}) {
        const std::vector<RankLoads> ranks{{NodeId{0}, {group(0, 0, 5, 1), group(1, 0, 15, 1)}},
                                           {NodeId{0}, {group(2, 0, 10, 1)}}};
        const auto moves = plan_rank_moves(ranks, 1, {ns_per_byte, UINT64_MAX});
        CHECK(moves.size() == (ns_per_byte < 3 ? 1 : 0));
    }
}

TEST_CASE("RankBalance: groups that cannot move or are too large stay, but their load is counted") {
    const std::vector<RankLoads> stays{
        {NodeId{0}, {group(0, 0, 10, 0, true), group(1, 0, 10, 0, true)}}, {NodeId{0}, {}}};
    CHECK(plan_rank_moves(stays, 1, free_of_charge).empty());
    CHECK(draw_rank_moves(stays, 1, 1, 7).empty());
    const std::vector<RankLoads> large{{NodeId{0}, {group(0, 0, 10, 1000), group(1, 0, 10, 10)}},
                                       {NodeId{0}, {}}};
    const std::vector<RankMove> moves = plan_rank_moves(large, 1, {0, 100});
    REQUIRE(moves.size() == 1);
    CHECK(moves[0].group == 1);
}

TEST_CASE("RankBalance: the receiving rank must have room for the groups that arrive") {
    for (const std::uint64_t room : {50u, 150u}) {
        std::vector<RankLoads> ranks{{NodeId{0}, {group(0, 0, 10, 100), group(1, 0, 10, 100)}},
                                     {NodeId{0}, {}}};
        ranks[1].room = room;
        CHECK(plan_rank_moves(ranks, 1, free_of_charge).empty() == (room < 100));
        CHECK(draw_rank_moves(ranks, 1, 1, 7).empty());  // no room for both groups
    }
}

TEST_CASE("RankBalance: idle ranks and balanced ranks move no groups") {
    CHECK(plan_rank_moves(std::vector<RankLoads>(3), 2, free_of_charge).empty());
    const std::vector<RankLoads> balanced{{NodeId{0}, {group(0, 0, 10)}},
                                          {NodeId{0}, {group(1, 0, 10)}}};
    CHECK(plan_rank_moves(balanced, 1, free_of_charge).empty());
}

TEST_CASE("RankBalance: random moves go to other ranks") {
    std::vector<RankLoads> ranks(3);
    for (std::uint32_t g = 0; g < 300; ++g) ranks[g % 3].groups.push_back(group(g, g % 2, 1));
    const std::vector<RankMove> moves = draw_rank_moves(ranks, 2, 0.5, 11);
    CHECK(moves.size() > 100);
    CHECK(moves.size() < 200);
    for (const RankMove& move : moves) {
        CHECK(move.from.rank == move.group % 3);
        CHECK(move.to.rank != move.from.rank);
        CHECK(move.to.worker < 2);
    }
}

// Calls is_due() every millisecond for `ms` milliseconds. Returns the times at which the result was
// true.
std::vector<int> due_at(RankBalance& balance, std::uint64_t most, std::uint64_t sum, int ms,
                        bool in_vain = false, milliseconds took = {}) {
    const RankBalance::Clock::time_point begin{std::chrono::hours(1)};
    Contribution sums;
    sums.load_most = most;
    sums.load = sum;
    std::vector<int> due;
    for (int i = 0; i < ms; ++i) {
        const RankBalance::Clock::time_point now = begin + milliseconds(i);
        if (!balance.is_due(sums, now)) continue;
        due.push_back(i);
        balance.note_pause(!in_vain, took, now);
    }
    return due;
}

TEST_CASE("RankBalance: moves are requested if loads differ by more than a tenth") {
    RankBalance off(0, true, 2);
    CHECK(due_at(off, 100, 100, 1000).empty());
    RankBalance balanced(0.1, false, 2);
    CHECK(due_at(balanced, 100, 185, 1000).empty());
    RankBalance unbalanced(0.1, false, 2);
    CHECK(due_at(unbalanced, 100, 170, 500) == std::vector<int>{150, 300, 450});
    RankBalance drawn(0.1, true, 2);
    CHECK(due_at(drawn, 100, 200, 400) == std::vector<int>{150, 300});
}

TEST_CASE("RankBalance: long pauses make the next pauses rare") {
    RankBalance planned(0.1, false, 2);
    CHECK(due_at(planned, 100, 100, 2000, false, milliseconds(100)) ==
          std::vector<int>{150, 1050, 1950});
    RankBalance drawn(0.1, true, 2);
    CHECK(due_at(drawn, 100, 100, 1000, false, milliseconds(400)) ==
          std::vector<int>{150, 550, 950});
}

TEST_CASE("RankBalance: pauses without a move become rare") {
    RankBalance balance(0.1, false, 2);
    CHECK(due_at(balance, 100, 100, 3000, true) == std::vector<int>{150, 400, 850, 1700});
}

}  // namespace
}  // namespace nw
