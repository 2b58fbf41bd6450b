// The optimism window as a function of what the rounds say: efficiency sets its direction, the
// advance of GVT its ceiling and floor.
#include <cmath>

#include "gvt/window_control.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/numa/random_cases.hpp"

namespace nw::test {
namespace {

// Feeds rounds of 1,000 events each, of which a share stays.
class Feeder {
  public:
    explicit Feeder(WindowControl control) : control_(control) {}

    VirtualTime round(double efficiency, VirtualTime advance = 1, VirtualTime lead = 20,
                      std::uint64_t events = 1000) {
        gvt_ += advance;
        sums_.executed += events;
        sums_.rolled_back +=
            static_cast<std::uint64_t>(static_cast<double>(events) * (1 - efficiency));
        sums_.lead = gvt_ + lead;
        control_.update(gvt_, sums_);
        return control_.width();
    }
    std::uint32_t generations() const { return control_.generations(); }

  private:
    WindowControl control_;
    Contribution sums_;
    VirtualTime gvt_ = 0;
};

TEST_CASE("a window that is off or fixed stays what it is") {
    Feeder off(WindowControl::off());
    Feeder fixed(WindowControl::fixed(3.5));
    for (const double efficiency : {0.1, 0.5, 0.8, 1.0, 0.1}) {
        CHECK(off.round(efficiency) == time_infinity);
        CHECK(fixed.round(efficiency) == 3.5);
    }
}

// A window that has shrunk to something finite, with GVT advancing by 1 a round.
Feeder settled() {
    Feeder feeder(WindowControl::automatic());
    for (int i = 0; i < 60; ++i) feeder.round(0.8);
    return feeder;
}

TEST_CASE(
    "there is no window until enough has happened to choose one from how far the leaders are") {
    Feeder feeder(WindowControl::automatic());
    for (int i = 0; i < 10; ++i) CHECK(feeder.round(1, 1, 20, 20) == time_infinity);
    CHECK(feeder.round(1) == Approx(20));

    Feeder wasteful(WindowControl::automatic());
    CHECK(wasteful.round(0.5) == Approx(10));
}

TEST_CASE("low efficiency narrows the window, by four or by two") {
    Feeder feeder = settled();
    const VirtualTime before = feeder.round(0.8);
    REQUIRE(std::isfinite(before));
    CHECK(feeder.round(0.5) == Approx(before / 2));
    CHECK(feeder.round(0.2) == Approx(before / 8));
}

TEST_CASE("high efficiency doubles the window, up to a few rounds' worth of GVT advance") {
    Feeder feeder = settled();
    VirtualTime before = 20;
    while (before > 3) before = feeder.round(0.5);
    CHECK(feeder.round(1) == Approx(2 * before));
    VirtualTime width = 0;
    for (int i = 0; i < 50; ++i) width = feeder.round(1);
    CHECK(width > 4);
    CHECK(width < 20);
}

TEST_CASE("in between the window climbs by about one per cent a round") {
    Feeder feeder = settled();
    VirtualTime before = feeder.round(0.8);
    for (int i = 0; i < 10; ++i) {
        const VirtualTime width = feeder.round(0.8 + 0.01 * (i % 3));
        CHECK(std::abs(width / before - 1) == Approx(0.01).margin(0.0002));
        before = width;
    }
}

TEST_CASE("generations fall with efficiency, and grow again unless it is low, in every mode") {
    for (const WindowControl& mode :
         {WindowControl::off(), WindowControl::fixed(3), WindowControl::automatic()}) {
        Feeder feeder(mode);
        const std::uint32_t at_first = feeder.generations();
        feeder.round(0.5);
        CHECK(feeder.generations() == at_first / 2);
        for (int i = 0; i < 10; ++i) feeder.round(0.2);
        CHECK(feeder.generations() == 1);
        for (int i = 0; i < 10; ++i) feeder.round(0.8);
        CHECK(feeder.generations() == 11);
        feeder.round(1);
        CHECK(feeder.generations() == 22);
    }
}

TEST_CASE("few events decide nothing") {
    Feeder feeder = settled();
    const VirtualTime before = feeder.round(0.8);
    CHECK(feeder.round(0, 1, 20, 10) == before);
}

TEST_CASE("a window of nothing is left again when all goes well") {
    Feeder feeder(WindowControl::automatic());
    for (int i = 0; i < 5; ++i) feeder.round(0.5, 0, 0);
    CHECK(feeder.round(0.5, 0, 0) == 0);
    CHECK(feeder.round(1, 1, 0) > 0);
}

TEST_CASE("the window is never below zero and always a number, whatever happens") {
    for (const std::uint64_t seed : test_seeds(50)) {
        INFO("replay with NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        Feeder feeder(WindowControl::automatic());
        for (int i = 0; i < 2000; ++i) {
            const double advance =
                dice.chance(0.3) ? 0 : std::ldexp(1.0, -static_cast<int>(dice.below(60)));
            const VirtualTime width =
                feeder.round(static_cast<double>(dice.below(101)) / 100, advance,
                             static_cast<double>(dice.below(50)), dice.below(3000));
            REQUIRE(width >= 0);
        }
    }
}

}  // namespace
}  // namespace nw::test
