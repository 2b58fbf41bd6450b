// SPDX-License-Identifier: Apache-2.0
// Tests the window as a function of the results of GVT rounds. The efficiency widens or narrows the
// window. The density of events determines how narrow the window may become.
#include <cmath>

#include "gvt/window_control.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {
namespace {

// Passes the results of rounds with 10,000 events each to a WindowControl. The efficiency is the
// share of the events that are committed; the other events are rolled back. Workers are never more
// than `lead` beyond GVT.
class Feeder {
  public:
    explicit Feeder(WindowControl control) : control_(control) {}

    VirtualTime round(double efficiency, VirtualTime advance = 1, VirtualTime lead = 0.9,
                      std::uint64_t events = 10'000) {
        const auto undone =
            static_cast<std::uint64_t>(static_cast<double>(events) * (1 - efficiency));
        sums_.lead = gvt_ + lead;
        gvt_ += advance;
        sums_.executed += events;
        sums_.rolled_back += undone;
        sums_.committed += events - undone;
        control_.update(gvt_, sums_);
        return control_.width();
    }
    std::uint32_t generations() const { return control_.generations(); }

  private:
    WindowControl control_;
    Contribution sums_;
    VirtualTime gvt_ = 0;
};

TEST_CASE("a window that is off or fixed does not change") {
    Feeder off(WindowControl::off());
    Feeder fixed(WindowControl::fixed(3.5));
    for (const double efficiency : {0.1, 0.5, 0.8, 1.0, 0.1}) {
        CHECK(off.round(efficiency) == time_infinity);
        CHECK(fixed.round(efficiency) == 3.5);
    }
}

TEST_CASE("the window is unlimited until there are enough events to choose its first width") {
    Feeder feeder(WindowControl::automatic(0, 1024, 2));
    for (int i = 0; i < 10; ++i) CHECK(feeder.round(0.97, 1, 20, 20) == time_infinity);
    CHECK(feeder.round(0.97, 1, 20) == Approx(20));
}

// Returns a Feeder whose window has the width 20. In each round, GVT has advanced by 20, and
// workers have executed events up to the end of the window.
Feeder settled() {
    Feeder feeder(WindowControl::automatic(0, 1024, 2));
    for (int i = 0; i < 50; ++i) feeder.round(0.97, 20, 20);
    return feeder;
}

TEST_CASE("low efficiency narrows the window by at most a factor of four") {
    Feeder feeder = settled();
    CHECK(feeder.round(0.9, 20, 20) == Approx(20 * 0.81).epsilon(0.01));
    CHECK(feeder.round(0.2, 20, 20) == Approx(20 * 0.81 / 4).epsilon(0.01));
}

TEST_CASE("high efficiency widens the window by a quarter if the window is used") {
    Feeder feeder = settled();
    CHECK(feeder.round(1, 20, 20) == Approx(25));
    CHECK(feeder.round(1, 20, 20) == Approx(25 * 1.25));
    CHECK(feeder.round(1, 20, 10) == Approx(25 * 1.25));
}

TEST_CASE("the advance of GVT does not limit the window") {
    Feeder feeder = settled();
    VirtualTime width = 20;
    for (int i = 0; i < 30; ++i) width = feeder.round(1, 0.9 * width, 0.9 * width);
    CHECK(width > 10'000);
}

// Returns the width at the end of a run with 1000 events per unit of time. In this run, a worker is
// always ahead by the whole width, and nothing is rolled back.
VirtualTime widest(std::uint32_t lps, std::uint64_t workers) {
    WindowControl control = WindowControl::automatic(0, lps, workers);
    Contribution sums;
    VirtualTime ahead = 1;
    for (VirtualTime gvt = 0; gvt < 100'000; gvt += ahead) {
        if (control.width() != time_infinity) ahead = control.width();
        sums.lead = gvt + ahead;
        sums.committed = static_cast<std::uint64_t>(1000 * gvt);
        sums.executed = static_cast<std::uint64_t>(1000 * sums.lead);
        control.update(gvt, sums);
    }
    return control.width();
}

TEST_CASE(
    "without rollbacks the window grows to a limit that depends on the numbers of workers and "
    "LPs") {
    const auto is_near = [](VirtualTime width, double events) {
        return 1000 * width <= events && 1000 * width > events / 1.6;
    };
    CHECK(is_near(widest(1024, 1), 65'536));
    CHECK(is_near(widest(1024, 8), 8 * 65'536));
    CHECK(is_near(widest(1'000'000, 8), 2'000'000));
}

TEST_CASE("a window that contains too many events is narrowed by at most a factor of four") {
    Contribution sums;
    WindowControl control = WindowControl::automatic(0, 1024, 1);
    sums.lead = 1000;
    sums.executed = 1'000'000;
    control.update(0, sums);
    CHECK(control.width() == 250);
    sums.lead = 1250;
    sums.committed = 1'000'000;
    sums.executed = 1'131'072;
    control.update(1000, sums);
    CHECK(control.width() == 125);
}

TEST_CASE("rollbacks of events from a wider window do not narrow the next window") {
    Feeder feeder = settled();
    // This round executes 10,000 events up to 40 beyond GVT. Later rounds roll back a part of these
    // events.
    const VirtualTime narrowed = feeder.round(0.5, 0.1, 40);
    REQUIRE(narrowed == Approx(5));
    for (int i = 0; i < 5; ++i) CHECK(feeder.round(0.6, 1, 5) == narrowed);
}

TEST_CASE("a storm of rollbacks narrows the window before GVT has passed the older events") {
    Feeder feeder = settled();
    const VirtualTime before = feeder.round(0.97, 0.1, 1000);
    VirtualTime width = before;
    for (int i = 0; i < 3; ++i) width = feeder.round(0.1, 0.1, 1000);
    CHECK(width <= before / 4);
}

TEST_CASE("a window contains at least a few hundred events") {
    Feeder feeder = settled();
    VirtualTime width = 20;
    for (int i = 0; i < 100; ++i) width = feeder.round(0.1, 2, 2);
    // A tenth of 10,000 events is committed in 2 units of time: 500 events per unit.
    CHECK(width == Approx(256 / 500.).epsilon(0.01));
}

TEST_CASE("in every mode low efficiency lowers the generations and high efficiency raises them") {
    for (const WindowControl& mode :
         {WindowControl::off(), WindowControl::fixed(3), WindowControl::automatic(0, 1024, 2)}) {
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

TEST_CASE("a round with few events does not change the window") {
    Feeder feeder = settled();
    CHECK(feeder.round(0, 20, 20, 10) == Approx(20));
}

TEST_CASE("a window of width zero widens again if no event is rolled back") {
    Feeder feeder(WindowControl::automatic(0, 1024, 2));
    for (int i = 0; i < 5; ++i) feeder.round(0.5, 0, 0);
    CHECK(feeder.round(0.5, 0, 0) == 0);
    CHECK(feeder.round(1, 1, 0) > 0);
}

TEST_CASE("the window is never negative and never NaN") {
    for (const std::uint64_t seed : test_seeds(50)) {
        INFO("replay with NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        Feeder feeder(WindowControl::automatic(0, 1024, 2));
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

TEST_CASE("with a lookahead the window is as wide as the lookahead for a part of the time") {
    WindowControl control = WindowControl::automatic(0.25, 1024, 2);
    CHECK(control.width() == 0.25);
    Contribution sums;
    std::size_t within = 0, rounds = 0;
    for (; rounds < 200; ++rounds) {
        sums.clock_ns += 1'000'000;
        sums.executed = sums.committed += 1000;
        sums.lead += 1;
        control.update(sums.lead - 0.5, sums);
        within += control.width() == 0.25 ? 1 : 0;
    }
    CHECK(within > 0);
    CHECK(within < rounds);
}

TEST_CASE("with few LPs a storm of rollbacks narrows the window further") {
    const auto narrowest = [](std::uint32_t lps) {
        Feeder feeder(WindowControl::automatic(0, lps, 2));
        VirtualTime width = 0;
        for (int i = 0; i < 300; ++i) width = feeder.round(0.5, 1, 0.9, 2000);
        return width;
    };
    // 1000 events are committed per unit of time.
    CHECK(narrowest(1024) == Approx(0.256).epsilon(0.05));
    CHECK(narrowest(64) == Approx(0.128).epsilon(0.05));
    CHECK(narrowest(2) == Approx(0.016).epsilon(0.05));
}

}  // namespace
}  // namespace nw::test
