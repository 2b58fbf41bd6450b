// SPDX-License-Identifier: Apache-2.0
// Tests --place auto: the results of trials, and when there is no trial.
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "numa/decide/placement_trial.hpp"
#include "numa/place/placement_policy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace nw;

namespace {

constexpr NodeId n0{0}, n1{1}, n2{2};
using Side = PlacementTrial::Side;

// Returns the sides that have the pages during a trial, in order.
std::vector<Side> sides_of(PlacementTrial& trial,
                           const std::function<double(Side, std::size_t window)>& speed) {
    std::vector<Side> sides{trial.side()};
    for (std::size_t window = 0; !trial.is_done() && window < 1000; ++window) {
        const bool changed = trial.feed(speed(trial.side(), window));
        if (changed) sides.push_back(trial.side());
    }
    CHECK_FALSE(trial.feed(1e9));
    return sides;
}

// A policy for three nodes. A worker on node 0 gets 6, 3 and 1 GB/s from the nodes 0, 1 and 2.
struct Run {
    nw::test::TemporaryFolder folder;
    std::string file = folder.path() + "/machine.json";
    FakeOs os{3, 1};
    std::unique_ptr<PlacementPolicy> policy;
    PlacementPeriod period;

    explicit Run(const std::vector<Place>& places, bool with_file = true) {
        std::ofstream(file)
            << R"({"bw": [[6000, 3000, 1000], [3000, 6000, 1000], [1000, 1000, 6000]]})";
        policy = auto_placement.make(os, {.machine_file = with_file ? file : "",
                                          .huge_pages = HugePages::off,
                                          .places = places,
                                          .slots = {}});
        period.cpu_seconds = 0.25;
    }
    // Runs until the policy needs no more periods. The arguments are the numbers of events in a
    // window.
    void run(std::uint64_t when_local, std::uint64_t when_spread) {
        for (int i = 0; i < 1000 && policy->period_seconds() > 0; ++i) {
            period.committed_events = policy->spreads() ? when_spread : when_local;
            policy->on_period(period);
        }
    }
};

}  // namespace

TEST_CASE(
    "PlacementTrial: pages stay spread if spread pages are faster than local pages before and "
    "after") {
    PlacementTrial trial;
    CHECK(sides_of(trial, [](Side side, std::size_t) {
              return side == Side::spread ? 103 : 100;
          }) == std::vector<Side>{Side::local, Side::spread, Side::local, Side::spread});
    CHECK(trial.side() == Side::spread);
    CHECK(trial.ratio() == 1.03);
}

TEST_CASE(
    "PlacementTrial: a run that becomes faster over time does not count as a gain of spread "
    "pages") {
    PlacementTrial trial;
    CHECK(sides_of(trial, [](Side, std::size_t window) { return 100 + window; }) ==
          std::vector<Side>{Side::local, Side::spread, Side::local});
    CHECK(trial.is_done());
}

TEST_CASE("PlacementTrial: a gain below the noise ends with local pages") {
    PlacementTrial trial;
    CHECK(sides_of(trial, [](Side side, std::size_t) {
              return side == Side::spread ? 101 : 100;
          }) == std::vector<Side>{Side::local, Side::spread, Side::local});
    CHECK(trial.ratio() == 1.01);
}

TEST_CASE("auto: with workers on all nodes, or with one node, pages stay local without a trial") {
    Run all({{0, n0}, {1, n1}, {2, n2}});
    CHECK(all.policy->period_seconds() == 0);
    CHECK_FALSE(all.policy->moves_pages());
    CHECK_FALSE(all.policy->wants_misses());
    CHECK(all.policy->report() == "local: workers have all nodes");
    FakeOs one{1, 2};
    const auto policy =
        auto_placement.make(one, {.machine_file = "", .places = {{0, n0}}, .slots = {}});
    CHECK(policy->period_seconds() == 0);
    CHECK(policy->report() == "local: there is one node");
}

TEST_CASE("auto: without counters, a trial compares windows in which all pages are in place") {
    Run slower({{0, n0}});
    CHECK(slower.policy->moves_pages());
    CHECK(slower.policy->report() == "local; the trial has not ended");
    slower.period.has_caught_up = false;
    for (int i = 0; i < 100; ++i) slower.policy->on_period(slower.period);
    CHECK(slower.policy->changes() == 0);
    slower.period.has_caught_up = true;
    slower.run(1000, 900);
    CHECK(slower.policy->changes() == 2);
    CHECK_FALSE(slower.policy->spreads());
    CHECK(slower.policy->node_of(nullptr, n1) == n1);
    CHECK(slower.policy->report() ==
          "local: with weighted pages on all nodes, 0.900 times as many events were committed per "
          "second of CPU time");

    Run faster({{0, n0}});
    for (int i = 0; i < 6; ++i) {
        faster.period.committed_events = 1000;
        faster.policy->on_period(faster.period);
    }
    CHECK(faster.policy->report() == "pages on all nodes; the trial has not ended");
    faster.run(1000, 1100);
    CHECK(faster.policy->spreads());
    CHECK(faster.policy->changes() >= 3);
    CHECK(faster.policy->report().starts_with(
        "weighted: with weighted pages on all nodes, 1.100 times as many events"));
    CHECK(faster.policy->report().find("pages on nodes 0 ") != std::string::npos);
}

TEST_CASE(
    "auto: last-level cache misses determine whether workers wait for memory of their nodes") {
    Run waits({{0, n0}});
    CHECK(waits.policy->wants_misses());
    waits.period.missed_mb_s = 3100;
    for (int i = 0; i < 6; ++i) waits.policy->on_period(waits.period);
    CHECK(waits.policy->spreads());
    CHECK(waits.policy->report().starts_with(
        "weighted: misses of the last-level cache read 3.10 of the 6.00 GB/s that the workers' "
        "nodes provide; pages on nodes 0 "));
    Run does_not({{0, n0}});
    does_not.period.missed_mb_s = 2900;
    for (int i = 0; i < 6; ++i) does_not.policy->on_period(does_not.period);
    CHECK(does_not.policy->period_seconds() == 0);
    CHECK(does_not.policy->changes() == 0);
    CHECK(does_not.policy->report() ==
          "local: misses of the last-level cache read 2.90 of the 6.00 GB/s that the workers' "
          "nodes provide");
}

TEST_CASE("auto: misses that become readable during a trial are used only with local pages") {
    const bool waits = GENERATE(true, false);
    Run run({{0, n0}});
    run.period.committed_events = 1000;
    for (int i = 0; i < 6; ++i) run.policy->on_period(run.period);
    REQUIRE(run.policy->spreads());
    run.period.missed_mb_s = waits ? 3100 : 2900;
    run.policy->on_period(run.period);
    CHECK_FALSE(run.policy->spreads());
    for (int i = 0; i < 6; ++i) run.policy->on_period(run.period);
    CHECK(run.policy->spreads() == waits);
    CHECK(run.policy->report().starts_with(waits ? "weighted: misses" : "local: misses"));
}

TEST_CASE("auto: if workers move before the decision, the measurement starts again") {
    Run run({{0, n0}});
    run.period.committed_events = 1000;
    for (int i = 0; i < 6; ++i) run.policy->on_period(run.period);
    REQUIRE(run.policy->spreads());
    const Topology topology(run.os);
    run.policy->on_cpus(topology, {{0, n0}, {1, n1}});
    CHECK_FALSE(run.policy->spreads());
    run.period.missed_mb_s = 6100;
    for (int i = 0; i < 6; ++i) run.policy->on_period(run.period);
    CHECK(run.policy->report().starts_with(
        "weighted: misses of the last-level cache read 6.10 of the 12.00"));
    // The decision has already been made, so pages are placed by the weights of the new nodes.
    run.policy->on_cpus(topology, {{1, n1}});
    CHECK(run.policy->spreads());
    CHECK(run.policy->report().find("pages on nodes 0 30.0 %, 1 60.0 %, 2 10.0 %") !=
          std::string::npos);
    Run all({{0, n0}});
    all.policy->on_cpus(topology, {{0, n0}, {1, n1}, {2, n2}});
    CHECK(all.policy->report() == "local: workers have all nodes");
}

TEST_CASE("auto: misses are not used if only relative bandwidths are known") {
    Run run({{0, n0}}, false);
    CHECK_FALSE(run.policy->wants_misses());
    run.period.missed_mb_s = 1e9;
    run.run(1000, 900);
    CHECK_FALSE(run.policy->spreads());
    CHECK(run.policy->report().find("0.900 times as many events") != std::string::npos);
}
