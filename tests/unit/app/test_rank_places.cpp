// SPDX-License-Identifier: Apache-2.0
// Goal: choose_places() determines whether workers of different ranks have the same CPU.
#include <limits>
#include <string>
#include <vector>

#include "app/simulation/rank_places.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/silent_rank.hpp"

namespace nw::test {
namespace {

// The last of `ranks` ranks, which are all on one machine or each on its own machine.
class LastRank final : public SilentRank {
  public:
    LastRank(std::uint32_t ranks, bool together)
        : SilentRank(ranks - 1, ranks), together_(together) {}

    std::vector<std::string> share(const std::string& own) override {
        std::vector<std::string> all(ranks(), together_ ? own : "elsewhere");
        all.back() = own;
        return all;
    }

  private:
    bool together_;
};

// The places on a machine with two nodes.
RankPlaces places_of(std::uint32_t workers_wanted, std::uint32_t ranks = 1, bool together = true,
                     int cpus_per_node = 2,
                     double cpu_quota = std::numeric_limits<double>::infinity()) {
    FakeOs os(2, cpus_per_node);
    LastRank last(ranks, together);
    return choose_places(last, Topology(os), workers_wanted, cpu_quota);
}

TEST_CASE("ranks share CPUs if workers of different ranks have the same CPU") {
    CHECK_FALSE(places_of(5).share_cpus);  // two workers of one rank have one thread
    CHECK_FALSE(places_of(2, 2).share_cpus);
    CHECK_FALSE(places_of(3, 2).share_cpus);  // each rank has the CPUs of a node
    CHECK(places_of(2, 3).share_cpus);
    CHECK_FALSE(places_of(2, 3, false).share_cpus);
    CHECK(places_of(3, 2).number == 1);
    CHECK(places_of(3, 2, false).number == 0);
}

TEST_CASE("without --workers there is one worker per core and no spare core") {
    const RankPlaces places = places_of(0);
    CHECK(places.workers == 4);
    CHECK_FALSE(places.share_cpus);
    CHECK_FALSE(places.spare_core);
    CHECK(places_of(3).spare_core);
    CHECK(places_of(0, 1, true, 2'100).workers == 4'096);  // the maximum of --workers
}

TEST_CASE("the CPU quota of a container limits the default number of workers") {
    CHECK(places_of(0, 1, true, 32, 2.5).workers == 3);
    CHECK(places_of(0, 2, true, 32, 4).workers == 2);  // for both ranks together
    CHECK(places_of(0, 1, true, 32, 0.5).workers == 1);
    CHECK(places_of(0, 1, true, 2, 64).workers == 4);
    CHECK(places_of(8, 1, true, 32, 2).workers == 8);  // as requested
}

}  // namespace
}  // namespace nw::test
