// Goal: workers know whether they have CPUs of their own. Where several ranks run on the same CPUs, and
// where ranks have different ones, is seen with real ranks (tests/mpi, tests/hosts).
#include "engine/rank_places.hpp"
#include "numa/fake_os.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

RankPlaces places_of(std::uint32_t workers_wanted) {
    FakeOs os(2, 2);
    SingleProcess alone;
    return choose_places(alone, Topology(os), workers_wanted);
}

TEST_CASE("workers share CPUs when there are more of them") {
    CHECK_FALSE(places_of(4).share_cpus);
    CHECK(places_of(5).share_cpus);
}

TEST_CASE("without a wish there is a worker a core, and none is left") {
    const RankPlaces places = places_of(0);
    CHECK(places.workers == 4);
    CHECK_FALSE(places.share_cpus);
    CHECK_FALSE(places.spare_core);
    CHECK(places_of(3).spare_core);
}

}  // namespace
}  // namespace nw::test
