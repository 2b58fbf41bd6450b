// SPDX-License-Identifier: Apache-2.0
// Goal: two ranks of a host share assignments, mail figures and page figures. As in two processes,
// each rank maps the shared memory separately. Each rank is a thread here, because the ranks wait
// for each other.
#include <array>
#include <atomic>
#include <barrier>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/timewarp/host_placement.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/silent_rank.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace nw;

namespace {

constexpr NodeId n0{0}, n1{1}, n2{2};

struct Table {
    std::array<std::string, 2> said;
    std::barrier<> barrier{2};
};

class ThreadRank final : public test::SilentRank {
  public:
    ThreadRank(std::uint32_t rank, Table& table, std::string lie)
        : SilentRank(rank, 2), table_(table), lie_(std::move(lie)) {}

    std::vector<std::string> share(const std::string& own) override {
        table_.said[index(rank())] = lie_.empty() || !own.starts_with("/proc/") ? own : lie_;
        table_.barrier.arrive_and_wait();
        std::vector<std::string> all(table_.said.begin(), table_.said.end());
        table_.barrier.arrive_and_wait();
        return all;
    }

  private:
    Table& table_;
    std::string lie_;  // replaces the path of its memory, if not empty
};

// A host with two ranks of two workers: rank 0 on node 0, rank 1 on node 1.
struct TwoRanks {
    std::array<std::unique_ptr<HostPlacement>, 2> host;
    std::array<WorkerPlaces, 2> where;
    std::array<std::vector<std::string>, 2> notices;

    explicit TwoRanks(const std::string& lie = "", std::vector<std::uint32_t> sharers = {0, 1}) {
        Table table;
        std::vector<std::thread> threads;
        for (std::uint32_t r = 0; r < 2; ++r) {
            const std::array<std::vector<Place>, 2> places{
                {{{0, n0}, {1, n0}}, {{2, n1}, {3, n1}}}};
            where[r].places = places[r];
            where[r].sharers = sharers.size() == 2 ? sharers : std::vector<std::uint32_t>{r};
            where[r].number = sharers.size() == 2 ? r : 0;
            where[r].host_places = places[r];
            if (sharers.size() == 2) where[r].host_places = {{0, n0}, {1, n0}, {2, n1}, {3, n1}};
            threads.emplace_back([&, r] {
                ThreadRank ranks(r, table, lie);
                host[r] = std::make_unique<HostPlacement>(ranks, asymsched_placement, where[r],
                                                          notices[r]);
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
};

}  // namespace

TEST_CASE(
    "HostPlacement: one rank gives orders to the workers of both ranks and reads the mail figures "
    "of "
    "both") {
    const TwoRanks ranks;
    REQUIRE(ranks.host[0]->is_shared());
    REQUIRE(ranks.host[1]->is_shared());
    CHECK(ranks.host[0]->assignments().memory != ranks.host[1]->assignments().memory);
    CpuAssignments first({n0, n0}, RankId{0}, ranks.host[0]->assignments());
    CpuAssignments second({n1, n1}, RankId{1}, ranks.host[1]->assignments());
    CHECK(first.gives_orders());
    CHECK_FALSE(second.gives_orders());
    CHECK(first.size() == 4);

    second.count_mail(1, {0, 0}, 100);
    second.count_mail(1, {1, 0}, 7);
    first.count_mail(0, {1, 1}, 30);
    first.count_mail(0, {2, 1}, 1'000'000);  // to a rank of another host
    using Rows = std::vector<std::vector<double>>;
    CHECK(first.mail_bytes() == Rows{{0, 0, 0, 30}, {0, 0, 0, 0}, {0, 0, 0, 0}, {100, 0, 7, 0}});

    first.order(3, 5, n2);
    CHECK(second.orders() == 0);
    first.fetch();
    CHECK(second.orders() == 1);
    CHECK(second.fetches() == 1);
    CHECK(second.ordered(0).cpu == -1);
    CHECK(second.ordered(1) == CpuAssignments::CpuAssignment{5, n2});
    CHECK(second.node_of(1) == n1);
    second.note_moved(1, second.ordered(1));
    CHECK(second.node_of(1) == n2);
    CHECK(second.cpu_of(1) == 5);
    CHECK(first.nodes() == std::vector<NodeId>{n0, n0});
}

TEST_CASE(
    "CpuAssignments: a reader between two orders reads the CPU and the node of the same order") {
    CpuAssignments assignments({n0});
    assignments.order(0, 0, n0);
    std::atomic<bool> over{false};
    std::thread placement([&] {
        for (int i = 0; i < 1'000'000; ++i) assignments.order(0, i % 3, NodeId{i % 3});
        over = true;
    });
    int torn = 0;
    while (!over) {
        const CpuAssignments::CpuAssignment place = assignments.ordered(0);
        torn += place.cpu != index(place.node);
    }
    placement.join();
    CHECK(torn == 0);
}

TEST_CASE("HostPlacement: figures are summed after both ranks have reported them") {
    const TwoRanks ranks;
    ranks.host[0]->publish({{{n0, {1000, 0.5}}}, 4096, 10, 7});
    CHECK_FALSE(ranks.host[0]->published());
    ranks.host[1]->publish({{{n0, {3000, 0}}, {n1, {500, 1}}}, 8192, 20, 8});
    const std::optional<RankPages> told = ranks.host[0]->published();
    REQUIRE(told);
    CHECK(told->homes.size() == 2);
    CHECK(told->homes.at(n0).bytes == 4000);
    CHECK(told->homes.at(n0).remote_share == 0.125);
    CHECK(told->homes.at(n1).remote_share == 1);
    CHECK(told->migrated_bytes == 12288);
    CHECK(told->migration_ns == 30);
    CHECK(told->other_threads_ns == 15);
    ranks.host[1]->publish({{{n1, {500, 0}}}, 8192, 20, 8});
    CHECK(ranks.host[0]->published()->homes.at(n0).bytes == 1000);
}

TEST_CASE("HostPlacement: ranks that cannot share memory report this and the reason") {
    // Simulates ranks in two containers. In the other container, the process number belongs to no
    // process, or to another process.
    const nw::test::TemporaryFolder folder;
    const std::string other = folder.path() + "/other";
    std::ofstream(other) << "of another size";
    const bool is_nobodys = GENERATE(true, false);
    const TwoRanks ranks(is_nobodys ? folder.path() + "/none" : other);
    for (std::size_t r = 0; r < 2; ++r) {
        CHECK_FALSE(ranks.host[r]->is_shared());
        REQUIRE(ranks.notices[r].size() == 1);
        CHECK(ranks.notices[r][0] ==
              "--place asymsched: same effect as local here, because ranks on the same CPUs cannot "
              "share memory (No such file or directory)");
    }
}

TEST_CASE("HostPlacement: ranks on different cores share no assignments and report nothing") {
    const TwoRanks ranks("", {0});
    for (std::size_t r = 0; r < 2; ++r) {
        CHECK_FALSE(ranks.host[r]->is_shared());
        CHECK(ranks.notices[r].empty());
    }
}
