// Goal: whatever the model and the options, an engine's result is the sequential engine's, to the
// bit: digest, committed events, end, output files, what on_commit saw.
//
// Method: a random model (random_model.hpp) and random options from one seed, run by real threads.
// A failure prints the seed; NUMAWARP_TEST_SEED=… runs that case alone, NUMAWARP_TEST_CASES=… sets
// how many there are in the nightly run.
#include <cstdlib>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "tests/engine/outcome.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

namespace nw::test {
namespace {

Config draw_config(Dice& dice, const RandomShape& shape) {
    Config config;
    const bool conservative = shape.lookahead > 0 && shape.can_end_after == 0 && dice.chance(0.4);
    config.engine = conservative ? EngineKind::conservative : EngineKind::timewarp;
    config.workers = static_cast<std::uint32_t>(1 + dice.below(4));
    config.seed = dice.below(1'000'000);
    const std::uint32_t group_sizes[] = {0, 1, 2, 5, 64};
    config.lps_per_group = group_sizes[dice.below(5)];
    config.memory = dice.chance(0.7) ? MemoryMode::numa : MemoryMode::libc;
    config.pin = dice.chance(0.5);
    if (shape.state != StateKind::containers) {
        const Rollback methods[] = {Rollback::snapshot, Rollback::copy, Rollback::reverse};
        config.rollback = methods[dice.below(3)];
    }
    const std::uint32_t intervals[] = {0, 1, 2, 7};
    config.checkpoint_every = intervals[dice.below(4)];
    const double gvt_intervals[] = {0.05, 0.2, 1, 5};
    config.gvt_interval_ms = gvt_intervals[dice.below(4)];
    const WindowMode windows[] = {WindowMode::automatic, WindowMode::off, WindowMode::fixed};
    config.window_mode = windows[dice.below(3)];
    if (config.window_mode == WindowMode::fixed) config.window = dice.chance(0.5) ? 0.5 : 3;
    if (!conservative && dice.chance(0.3)) config.check_rollback = dice.chance(0.5) ? 0.05 : 0.5;
    const double looks[] = {0, 0.0002, 0.002, 0.02};
    config.rebind_seconds = looks[dice.below(4)];
    const double shares[] = {0, 0.1, 0.8};
    config.check_rebind = shares[dice.below(3)];
    return config;
}

std::string describe(const Config& config) {
    return fmt::format(
        "engine {}, workers {}, seed {}, LPs a group {}, rollback {}, checkpoint every {}, GVT "
        "every {} ms, window mode {} of {}, memory {}, pin {}, check rollback {}, rebinding of {} "
        "every {} s",
        static_cast<int>(config.engine), config.workers, config.seed, config.lps_per_group,
        config.rollback ? static_cast<int>(*config.rollback) : -1, config.checkpoint_every,
        config.gvt_interval_ms, static_cast<int>(config.window_mode), config.window,
        static_cast<int>(config.memory), config.pin, config.check_rollback, config.check_rebind,
        config.rebind_seconds);
}

// Returns what the engine counted.
Counters compare_with_sequential(std::uint64_t seed) {
    Dice dice(seed);
    const RandomShape shape = draw_shape(dice, 1000 + static_cast<std::uint32_t>(dice.below(4000)));
    const Config config = draw_config(dice, shape);
    INFO("replay with NUMAWARP_TEST_SEED=" << seed);
    INFO(shape.describe());
    INFO(describe(config));

    Config reference_config = config;
    reference_config.engine = EngineKind::sequential;
    reference_config.check_rollback = 0;
    const Outcome reference = run_random_model(shape, reference_config);
    const Outcome outcome = run_random_model(shape, config);

    CHECK(outcome.digest == reference.digest);
    CHECK(outcome.committed_events == reference.committed_events);
    CHECK(outcome.end_time == reference.end_time);
    CHECK(static_cast<int>(outcome.reason) == static_cast<int>(reference.reason));
    CHECK(outcome.on_commit_events == reference.committed_events);
    CHECK(outcome.on_commit_sum == reference.on_commit_sum);
    CHECK((outcome.events_file == reference.events_file));
    CHECK((outcome.states_file == reference.states_file));
    // All fuel is burnt unless the end came first.
    if (reference.reason == EndReason::no_events)
        CHECK(reference.committed_events == std::uint64_t{shape.fuel} * shape.lps);
    return outcome.counters;
}

void compare_cases(std::uint64_t first_seed, std::size_t cases) {
    if (const char* seed = std::getenv("NUMAWARP_TEST_SEED")) {
        compare_with_sequential(std::strtoull(seed, nullptr, 10));
        return;
    }
    Counters sums;
    for (std::size_t i = 0; i < cases; ++i) sums.add(compare_with_sequential(first_seed + i));

    // The cases have met their subject.
    REQUIRE(sums[Counter::rollbacks] > 0);
    REQUIRE(sums[Counter::stragglers] > 0);
    REQUIRE(sums[Counter::anti_messages] > 0);
    REQUIRE(sums[Counter::forced_rollbacks] > 0);
    REQUIRE(sums[Counter::coasted_events] > 0);
    REQUIRE(sums[Counter::events_crossed] > 0);
    REQUIRE(sums[Counter::window_stops] > 0);
    REQUIRE(sums[Counter::output_rows] > 0);
    REQUIRE(sums[Counter::groups_moved] > 0);
}

TEST_CASE("every engine gives the sequential result for random models and options") {
    compare_cases(1, test::effort(240));
}

TEST_CASE("every engine gives the sequential result, for as many cases as a night allows",
          "[.nightly]") {
    const char* cases = std::getenv("NUMAWARP_TEST_CASES");
    compare_cases(std::random_device()(),
                  cases != nullptr ? std::strtoull(cases, nullptr, 10) : 5000);
}

}  // namespace
}  // namespace nw::test
