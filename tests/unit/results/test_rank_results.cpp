// SPDX-License-Identifier: Apache-2.0
// gather_results() combines the results of all ranks into one, as visit_figures() describes for
// each figure.
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "results/statistics/rank_results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/silent_rank.hpp"

using namespace nw;

namespace {

using Mail = std::map<std::uint32_t, std::string>;  // messages to the first rank, by sender

// One of three ranks. The other ranks send before the first one receives, so one thread can act as
// all ranks.
class PlayedRank final : public test::SilentRank {
  public:
    PlayedRank(std::uint32_t rank, Mail& mail) : SilentRank(rank, 3), mail_(mail) {}

    void send(RankId to, const std::string& bytes) override {
        CHECK(index(to) == 0);
        mail_[index(rank())] = bytes;
    }
    std::string receive(RankId from) override { return mail_.at(index(from)); }

  private:
    Mail& mail_;
};

template <class Fill>
RunResult gathered(Fill&& fill) {
    Mail mail;
    RunResult result;
    for (std::uint32_t rank : {2, 1, 0}) {
        result = RunResult();
        fill(rank, result);
        PlayedRank ranks(rank, mail);
        gather_results(ranks, result);
    }
    return result;
}

// With `fill`, gives each number that is summed over ranks a different value. Without `fill`,
// checks that each number has become the sum of these values.
struct Numbers {
    std::uint64_t first;
    bool fill;
    std::uint64_t met = 0;

    void operator()(const auto&, combine::Sum, std::uint64_t& number) {
        ++met;
        if (fill)
            number = first * met;
        else
            CHECK(number == first * met);
    }
    void operator()(const auto&, auto, const auto&) {}
};

}  // namespace

TEST_CASE("gather_results: every summed figure is the sum over all ranks") {
    RunResult result = gathered([](std::uint32_t rank, RunResult& own) {
        visit_figures(Numbers{std::uint64_t{1} << 20 * rank, true}, own);
    });
    Numbers sums{1 + (std::uint64_t{1} << 20) + (std::uint64_t{1} << 40), false};
    visit_figures(sums, result);
    CHECK(sums.met >= counter_count);
}

TEST_CASE(
    "gather_results: maxima are taken; rows are in the order of ranks; each notice is kept once") {
    const RunResult result = gathered([](std::uint32_t rank, RunResult& own) {
        own.wall_seconds = rank == 1 ? 9 : 3;
        own.lps = 10 + rank;
        own.of_workers.rollback_lengths.count(1 + rank);
        own.workers.resize(2);
        own.workers[1].lps = rank;
        own.communication = {{rank, 7}};
        if (rank > 0) own.most_rolled_back_lps = {{rank * 10, rank, rank, 0}};
        own.notices = {"all say this", fmt::format("only {} says this", rank)};
        own.numa.memory.state = rank;
    });
    CHECK(result.wall_seconds == 9);
    CHECK(result.lps == 10);  // the value of the first rank
    REQUIRE(result.of_workers.rollback_lengths.rows().size() == 3);
    CHECK(result.of_workers.rollback_lengths.rows()[2].rollbacks == 1);
    REQUIRE(result.workers.size() == 6);
    CHECK(result.workers[5].rank == 2);
    CHECK(result.workers[5].lps == 2);
    CHECK(result.communication == std::vector<std::vector<std::uint64_t>>{{0, 7}, {1, 7}, {2, 7}});
    REQUIRE(result.most_rolled_back_lps.size() == 2);
    CHECK(result.most_rolled_back_lps[0].lp == 2);
    CHECK(result.notices == std::vector<std::string>{"all say this", "only 0 says this",
                                                     "rank 1: only 1 says this",
                                                     "rank 2: only 2 says this"});
    CHECK(result.numa.memory.state == 3);
}

TEST_CASE("gather_results: placement by node is summed over the ranks that measured it") {
    const RunResult result = gathered([](std::uint32_t rank, RunResult& own) {
        if (rank == 0) return;
        Placement placement;
        placement.kinds[0].pages = 100 * rank;
        placement.kinds[0].by_node.assign(rank, 5);
        placement.status = rank == 2 ? 13 : 0;
        own.numa.placement = placement;
        own.numa.pages_shared = rank;
    });
    REQUIRE(result.numa.placement.has_value());
    CHECK(result.numa.placement->kinds[0].pages == 300);
    CHECK(result.numa.placement->kinds[0].by_node == std::vector<std::uint64_t>{10, 5});
    CHECK(result.numa.placement->status == 13);
    CHECK(result.numa.pages_shared == 3u);
    CHECK_FALSE(gathered([](auto...) {}).numa.placement.has_value());
}

TEST_CASE("gather_results: one rank has no communication between ranks") {
    SingleProcess alone;
    RunResult result;
    result.communication = {{0}};
    gather_results(alone, result);
    CHECK(result.communication.empty());
}
