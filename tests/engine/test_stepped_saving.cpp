// SPDX-License-Identifier: Apache-2.0
// Goal: several ranks may be requested to pause at any moment. When they have paused, no message is
// in flight. A run that continues from their saved run gives the sequential result, with the same
// numbers of ranks and workers or with others, under any schedule and any network.
//
// Method: stepped runs (stepped_run.hpp), one after the other. One seed determines model, options,
// machines, schedules and moments. A failure prints the seed; NUMAWARP_TEST_SEED=… repeats the same
// steps.
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/engine/stepped_comparison.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

struct Met {
    std::uint64_t saves = 0;
    std::uint64_t saves_amid = 0;      // at a GVT beyond 0
    std::uint64_t other_machines = 0;  // parts that continued from a saved run
    std::uint64_t rollbacks = 0;
    std::uint64_t events_sent = 0;
    std::uint64_t groups_moved = 0;
    std::uint64_t groups_sent = 0;  // to other ranks
};

// Draws the next part: everything except the model and the seed of its random numbers.
SteppedCase draw_part(Dice& dice, const SteppedCase& first) {
    SteppedCase part = draw_stepped_case(dice);
    while (part.config.rollback && !first.shape.has_plain_state()) part = draw_stepped_case(dice);
    part.shape = first.shape;
    part.config.seed = first.config.seed;
    part.config.memory = MemoryMode::numa;
    part.config.save.directory = "somewhere";
    return part;
}

void compare_with_sequential(std::uint64_t seed, Met& met) {
    Dice dice(seed);
    const SteppedCase first = draw_stepped_case(dice);
    INFO("replay with NUMAWARP_TEST_SEED=" << seed);
    INFO(first.shape.describe());
    const Outcome reference = sequential_outcome(first);

    std::optional<SavedRun> saved;
    std::vector<std::unique_ptr<RandomModel>> models;  // kept: the next model has another address
    std::vector<TemporaryFolder> folders(5);
    Counters before;  // of the earlier parts
    std::uint64_t on_commit_events = 0, on_commit_sum = 0;
    for (std::size_t i = 0;; ++i) {
        SteppedCase part = draw_part(dice, first);
        INFO("part " << i << ": " << part.describe());
        if (saved) {
            part.config.restart_from = std::make_shared<const SavedRun>(*saved);
            before = saved->progress.totals;
            ++met.other_machines;
        }
        models.push_back(std::make_unique<RandomModel>(first.shape));
        const Setup setup = models.back()->setup();
        SteppedRun run(setup, part.config, part.machine, seed + i);
        bool is_over = false;
        for (std::size_t pause = 0; i < folders.size(); ++pause) {
            const std::uint64_t until = run.steps() + dice.below(800);
            run.run_until([&] { return run.steps() >= until; });
            const bool by_signal = dice.chance(0.5);
            if (by_signal) {
                run.stop_signal() = SIGTERM;
            } else {
                run.save_soon();
            }
            run.run_until([&] { return run.paused(); });
            is_over = !run.paused();
            if (is_over) break;
            CHECK(run.balance() == 0);
            CHECK(run.network_is_idle());
            const TemporaryFolder passing;
            const bool goes_on = !by_signal && dice.chance(0.6);
            const SavedRun now = run.save(goes_on ? passing.path() : folders[i].path());
            CHECK(now.progress.totals[Counter::committed_events] ==
                  run.counters()[Counter::committed_events]);
            CHECK(now.groups.size() == now.partition.groups);
            ++met.saves;
            met.saves_amid += now.progress.gvt > 0 ? 1 : 0;
            if (!goes_on) {
                saved = now;
                break;
            }
            run.resume();
        }
        if (is_over || i == folders.size()) run.run();
        on_commit_events += models.back()->log().events;
        on_commit_sum += models.back()->log().sum;
        Counters counters = run.counters();
        met.rollbacks += counters[Counter::rollbacks];
        met.events_sent += counters[Counter::events_sent];
        met.groups_moved += counters[Counter::groups_moved];
        met.groups_sent += counters[Counter::groups_sent];
        if (!is_over && i < folders.size()) {
            saved->progress.totals.add(before);
            continue;
        }
        counters.add(before);
        CHECK(run.balance() == 0);
        CHECK(run.digest() == reference.digest);
        CHECK(static_cast<int>(run.reason()) == static_cast<int>(reference.reason));
        CHECK(run.end_time() == reference.end_time);
        CHECK(counters[Counter::committed_events] == reference.committed_events);
        break;
    }
    CHECK(on_commit_events == reference.on_commit_events);
    CHECK(on_commit_sum == reference.on_commit_sum);
}

void compare_cases(std::uint64_t first_seed, std::size_t cases) {
    Met met;
    if (!compare_all(first_seed, cases,
                     [&](std::uint64_t seed) { compare_with_sequential(seed, met); }))
        return;
    REQUIRE(met.saves > cases);
    REQUIRE(met.saves_amid > cases / 2);
    REQUIRE(met.other_machines > cases / 2);
    REQUIRE(met.rollbacks > 0);
    REQUIRE(met.events_sent > 0);
    REQUIRE(met.groups_moved > 0);
    REQUIRE(met.groups_sent > 0);
}

TEST_CASE("other ranks that continue a saved run give the sequential result") {
    compare_cases(1, 300);
}

// The case has three LPs on three slow ranks, and no window. When chains of zero delays beyond GVT
// were unbounded, events were canceled and sent again without end. GVT did not advance, because
// some message was always in flight.
TEST_CASE("a storm of rollbacks on a slow network ends") {
    Met met;
    compare_with_sequential(1001411, met);
    CHECK(met.rollbacks > 0);
}

TEST_CASE("nightly: other ranks that continue a saved run give the sequential result",
          "[.nightly]") {
    compare_cases(nightly_seed(), nightly_cases(3000));
}

}  // namespace
}  // namespace nw::test
