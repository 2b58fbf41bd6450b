// SPDX-License-Identifier: Apache-2.0
// Tests PHOLD's hot spot: where its window is, which LPs the window contains, and that the hot
// events of a run are in the window.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include <numawarp/model.hpp>

#include "app/simulation/simulation.hpp"
#include "models/phold/phold.hpp"
#include "tests/support/catch.hpp"

using phold::HotSpot;

namespace {

// Counts the events that the sequential engine executes inside and outside of the window. `wrong`:
// hot events outside, and other events inside.
struct Tally {
    std::uint64_t inside = 0, outside = 0, wrong = 0;
};

class CountedProcess final : public nw::LogicalProcess {
  public:
    CountedProcess(nw::LpId lp, const phold::Parameters* parameters, Tally* tally)
        : process_(lp, parameters), parameters_(parameters), tally_(tally) {}

    void on_start(nw::Context& context) override { process_.on_start(context); }

    void on_event(nw::Context& context, const nw::Event& event) override {
        const bool hot = (event.type() & 1) != 0;
        const bool in = parameters_->hot_spot.contains(event.time(), context.self());
        ++(in ? tally_->inside : tally_->outside);
        tally_->wrong += in != hot;
        process_.on_event(context, event);
    }

  private:
    phold::Process<0, true> process_;
    const phold::Parameters* parameters_;
    Tally* tally_;
};

class CountedPhold final : public nw::Model {
  public:
    CountedPhold(const phold::Parameters& parameters, Tally& tally)
        : nw::Model("phold", "PHOLD with its events counted"),
          parameters_(parameters),
          tally_(&tally) {}

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = parameters_.lps;
        setup.until = 300;
        setup.process = nw::process<CountedProcess>(
            static_cast<const phold::Parameters*>(&parameters_), tally_);
        return setup;
    }

  private:
    phold::Parameters parameters_;
    Tally* tally_;
};

Tally tally_of(const phold::Parameters& parameters) {
    Tally tally;
    CountedPhold model(parameters, tally);
    nw::Config config;
    config.engine = nw::EngineKind::sequential;
    nw::LiveProgress progress;
    const std::atomic<int> no_signal{0};
    nw::simulate(model, model.setup(), config, progress, no_signal);
    return tally;
}

}  // namespace

TEST_CASE(
    "HotSpot: the window passes all LPs once per period and contains the given number of LPs") {
    constexpr std::uint32_t lps = 128, width = 7;
    const HotSpot spot(lps, width, 256);
    std::vector<int> times_inside(lps, 0);
    for (std::uint32_t step = 0; step < 1024; ++step) {
        const double time = step * 0.25;
        CHECK(spot.first(time) == step / 8);
        std::uint32_t inside = 0;
        for (std::uint32_t lp = 0; lp < lps; ++lp) {
            const bool in = spot.contains(time, nw::LpId{lp});
            CHECK(in == ((lp + lps - spot.first(time)) % lps < width));
            inside += in;
            times_inside[lp] += in;
        }
        CHECK(inside == width);
        CHECK(spot.first(time + 256 * 12) == spot.first(time));
    }
    for (const int times : times_inside) CHECK(times == 8 * static_cast<int>(width));
}

TEST_CASE("HotSpot: the first LP of the window exists at any time and with any period") {
    nw::Random random(1, 0, 0);
    for (int i = 0; i < 100'000; ++i) {
        const auto lps = static_cast<std::uint32_t>(2 + random.below(5));
        const double period = random.exponential(1) * std::pow(10, random.below(300)) * 1e-150;
        const double turns = random.exponential(1) * std::pow(10, random.below(8));
        const HotSpot spot(lps, 1, period);
        REQUIRE(spot.first(turns * period) < lps);
        REQUIRE(spot.first(std::nextafter(period, 0)) < lps);
    }
    CHECK(HotSpot(3, 1, 5e-324).first(1e300) < 3);
}

TEST_CASE("HotSpot: draws are uniform over the window or over all other LPs") {
    constexpr std::uint32_t lps = 40, width = 8;
    constexpr int draws = 100'000;
    const HotSpot spot(lps, width, 10);
    nw::Random random(1, 0, 0);
    // The second window continues from the last LP to the first LP.
    for (const double time : {2.0, 9.5}) {
        std::vector<int> inside(lps, 0), outside(lps, 0);
        for (int i = 0; i < draws; ++i) {
            ++inside[nw::index(spot.draw_inside(time, random))];
            ++outside[nw::index(spot.draw_outside(time, random))];
        }
        for (std::uint32_t lp = 0; lp < lps; ++lp) {
            const bool in = spot.contains(time, nw::LpId{lp});
            const double share = 1.0 / (in ? width : lps - width);
            const double deviation = std::sqrt(draws * share * (1 - share));
            CHECK((in ? outside : inside)[lp] == 0);
            CHECK(std::abs((in ? inside : outside)[lp] - draws * share) < 4.5 * deviation);
        }
    }
}

TEST_CASE("Phold: the share of events that start hot is exact and evenly spread") {
    for (const double share : {0.0, 0.1, 0.3, 0.5, 0.75, 1.0}) {
        int hot = 0;
        for (int number = 0; number < 1000; ++number) {
            hot += phold::starts_hot(share, static_cast<std::uint64_t>(number));
            REQUIRE(std::abs(hot - share * (number + 1)) < 1 + 1e-9);
        }
        CHECK(std::abs(hot - share * 1000) < 1e-6);
    }
}

TEST_CASE("Phold: hot events are executed in the window and all other events outside of it") {
    phold::Parameters parameters;
    parameters.lps = 200;
    parameters.events_per_lp = 2;
    parameters.hot_share = 0.3;
    parameters.hot_spot = HotSpot(200, 20, 50);
    for (const double remote : {0.0, 0.25, 1.0}) {
        parameters.remote = remote;
        const Tally tally = tally_of(parameters);
        CHECK(tally.wrong == 0);
        // There are 120 chains of hot events. Each chain has about 300 steps of mean 1 and variance
        // 0.81.
        CHECK(std::abs(double(tally.inside) - 120 * 300) < 4 * std::sqrt(120 * 300 * 0.81) + 120);
        CHECK(std::abs(double(tally.outside) - 280 * 300) < 4 * std::sqrt(280 * 300 * 0.81) + 280);
    }
}
