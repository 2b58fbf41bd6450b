// SPDX-License-Identifier: Apache-2.0
// Goal: a run is saved, ended and continued several times, each time with other options. It gives
// exactly the results of the sequential run: digest, committed events, end, output files, and the
// events that on_commit() received.
//
// Method: a chain of runs in one process. Each part continues from the saved run of the previous
// part. Each part has its own model object, so that the data that LPs share with the model have
// another address in each part. A thread reads GVT and sends the stop signal at a drawn GVT. Some
// parts are also saved every 20 or 100 ms. Engine, rollback method, window and other options are
// drawn anew for each part.
//
// A failure prints the seed. NUMAWARP_TEST_SEED=… runs only the case of this seed.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/checkpoint/saved_run.hpp"
#include "engine/checkpoint/saved_run_folder.hpp"
#include "tests/engine/engines.hpp"
#include "tests/engine/gap_model.hpp"
#include "tests/engine/outcome.hpp"
#include "tests/engine/pointer_model.hpp"
#include "tests/engine/random_config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {
namespace {

// Sends the signal when GVT has reached `gvt`. The thread ends after the run. A thread frees memory
// at its end, and this must not happen while the run reserves the region.
class StopAt {
  public:
    StopAt(VirtualTime gvt, const LiveProgress& progress)
        : thread_([this, gvt, &progress](std::stop_token over) {
              while (!over.stop_requested()) {
                  if (progress.gvt.load() >= gvt) signal_.store(SIGTERM);
                  std::this_thread::sleep_for(std::chrono::microseconds(20));
              }
          }) {}
    const std::atomic<int>& signal() const noexcept { return signal_; }

  private:
    std::atomic<int> signal_{0};
    std::jthread thread_;
};

// A run in parts. Requires: all configurations have the same seed and output folder.
class Chain {
  public:
    // Runs the next part until the signal at `stop_at`, or to the end if `stop_at` is infinite.
    RunResult resume(Model& model, Config config, VirtualTime stop_at) {
        return resume(model, model.setup(), std::move(config), stop_at);
    }
    RunResult resume(Model& model, const Setup& setup, Config config, VirtualTime stop_at) {
        LiveProgress progress;
        progress.warn = [&](const std::string& line) { warnings.push_back(line); };
        config.save.directory = folder_.path();
        config.save.identity = identity_;
        const SavedRunFolder saved(folder_.path());
        if (saved.has_saved_run())
            config.restart_from = std::make_shared<const SavedRun>(saved.read(identity_));
        const StopAt stop(stop_at, progress);
        const RunResult result = simulate(model, setup, config, progress, stop.signal());
        CHECK(result.saving.restarted_at.value_or(-1) == saved_at_.value_or(-1));
        if (result.reason == EndReason::interrupted) {
            CHECK(result.signal == SIGTERM);
            REQUIRE(result.saving.saved_at.value_or(-1) == result.end_time);
        }
        if (result.saving.saved_at) saved_at_ = result.saving.saved_at;
        saves += result.saving.written;
        return result;
    }

    VirtualTime saved_at() const { return saved_at_.value_or(0); }
    std::uint64_t saves = 0;
    std::vector<std::string> warnings;

  private:
    const RunIdentity identity_{{"the run", "of a test"}};
    TemporaryFolder folder_;
    std::optional<VirtualTime> saved_at_;
};

struct Met {
    std::uint64_t saves = 0;
    std::uint64_t starts_amid = 0;  // parts that ended with a saved run beyond time 0
    std::uint64_t rollbacks = 0;
    std::uint64_t groups_moved = 0;
    std::uint64_t failed_speculations = 0;
    std::map<std::pair<EngineKind, EngineKind>, std::uint64_t>
        changes{};  // of the engine between two parts, beyond time 0
};

void add(Met& met, const RunResult& result, const Chain& chain) {
    met.saves += result.saving.written;
    met.starts_amid += chain.saved_at() > 0 && result.reason == EndReason::interrupted ? 1 : 0;
}

// Draws the time at which a part is stopped, in the first 60 % of the time from `from` to `end`.
VirtualTime draw_stop(Dice& dice, VirtualTime from, VirtualTime end) {
    return from + (end - from) * static_cast<double>(dice.below(600)) / 1000;
}

constexpr int parts_max = 6;

// --- Random models -------------------------------------------------------------------------------

bool suits_all_engines(const RandomShape& shape) {
    return shape.lookahead > 0 && shape.can_end_after == 0;
}

EngineKind draw_engine(Dice& dice, const RandomShape& shape) {
    constexpr EngineKind engines[] = {EngineKind::sequential, EngineKind::conservative,
                                      EngineKind::timewarp, EngineKind::automatic};
    const EngineKind engine = engines[dice.below(4)];
    const bool unable = engine == EngineKind::conservative && !suits_all_engines(shape);
    return unable ? EngineKind::timewarp : engine;
}

Config draw_part(Dice& dice, const RandomShape& shape, const Config& first, EngineKind engine) {
    Config config = draw_config(dice, shape);
    config.engine = engine;
    const bool is_timewarp = may_be_timewarp(config);
    if (!is_timewarp) config.check_rollback = config.check_interrupt = 0;
    config.memory = MemoryMode::numa;
    config.seed = first.seed;
    config.output_directory = first.output_directory;
    config.measure_interval = first.measure_interval;
    config.warm_up = first.warm_up;
    config.net_thread = is_timewarp && dice.chance(0.1);
    const double intervals[] = {600, 0.1, 0.02};
    config.save.period_seconds = intervals[dice.below(3)];
    return config;
}

// The history and the list of pieces must cover all parts.
void check_history(const RunResult& result, int parts) {
    const std::vector<RunPiece>& pieces = result.saving.pieces;
    REQUIRE(pieces.size() == static_cast<std::size_t>(parts));
    CHECK(pieces.front().seconds == 0);
    CHECK(pieces.front().committed_events == 0);
    CHECK(pieces.back().gvt == result.saving.restarted_at.value_or(0));
    REQUIRE(!result.history.empty());
    CHECK(result.history.front().seconds == 0);
    CHECK(result.history.back().committed_events == result.totals[Counter::committed_events]);
    for (std::size_t i = 1; i < result.history.size(); ++i) {
        CHECK(result.history[i - 1].seconds <= result.history[i].seconds);
        CHECK(result.history[i - 1].committed_events <= result.history[i].committed_events);
    }
}

using Engines = std::pair<EngineKind, EngineKind>;

// `wanted`: the engine of the first part, and the engine of the other parts. Without `wanted`, the
// engines are drawn.
void compare_with_sequential(std::uint64_t seed, Met& met,
                             std::optional<Engines> wanted = std::nullopt) {
    Dice dice(seed);
    RandomShape shape;
    do {
        shape = draw_shape(dice, 3000 + static_cast<std::uint32_t>(dice.below(9000)));
    } while (wanted && !suits_all_engines(shape));
    const TemporaryFolder output;
    Config first = draw_config(dice, shape);
    first.output_directory = output.path();
    INFO("replay with NUMAWARP_TEST_SEED=" << seed);
    INFO(shape.describe());
    Config reference_config = first;
    reference_config.engine = EngineKind::sequential;
    reference_config.check_rollback = 0;
    const Outcome reference = run_random_model(shape, reference_config);

    Chain chain;
    std::vector<std::unique_ptr<RandomModel>> models;  // kept: the next model has another address
    std::uint64_t on_commit_events = 0, on_commit_sum = 0;
    RunResult result;
    EngineKind engine = EngineKind::sequential;
    for (int part = 1;; ++part) {
        const EngineKind before = engine;
        engine = !wanted ? draw_engine(dice, shape) : part == 1 ? wanted->first : wanted->second;
        const Config config = draw_part(dice, shape, first, engine);
        INFO("part " << part << " from " << chain.saved_at() << ": " << describe(config));
        models.push_back(std::make_unique<RandomModel>(shape));
        if (chain.saved_at() > 0) ++met.changes[{before, engine}];
        const VirtualTime stop = part == parts_max
                                     ? time_infinity
                                     : draw_stop(dice, chain.saved_at(), reference.end_time);
        result = chain.resume(*models.back(), setup_of(*models.back(), config), config, stop);
        on_commit_events += models.back()->log().events;
        on_commit_sum += models.back()->log().sum;
        add(met, result, chain);
        check_history(result, part);
        if (result.reason != EndReason::interrupted) break;
        REQUIRE(part < parts_max);
        if (shape.commits) CHECK(result.totals[Counter::committed_events] == on_commit_events);
    }
    CHECK(result.digest.hex() == reference.digest);
    CHECK(result.totals[Counter::committed_events] == reference.committed_events);
    CHECK(result.end_time == reference.end_time);
    CHECK(static_cast<int>(result.reason) == static_cast<int>(reference.reason));
    CHECK(on_commit_events == reference.on_commit_events);
    CHECK(on_commit_sum == reference.on_commit_sum);
    CHECK((output.read("events.csv") == reference.events_file));
    CHECK((output.read("states.csv") == reference.states_file));
    CHECK((output.read("measures.csv") == reference.measures_file));
    CHECK((output.read("measure_intervals.csv") == reference.intervals_file));
    CHECK(result.totals[Counter::output_rows] == reference.counters[Counter::output_rows]);
    met.rollbacks += result.totals[Counter::rollbacks];
    met.groups_moved += result.totals[Counter::groups_moved];
}

void compare_cases(std::uint64_t first_seed, std::size_t cases) {
    Met met;
    if (const auto seed = seed_to_replay()) return compare_with_sequential(*seed, met);
    // A small number of cases may not meet the requirements below. Then up to 30 more cases are
    // run.
    constexpr std::size_t more_cases_max = 30;
    const auto has_met_all = [&] {
        return met.saves > cases && met.starts_amid > cases / 2 && met.rollbacks > 0 &&
               met.groups_moved > 0;
    };
    for (std::size_t i = 0; i < cases || (i < cases + more_cases_max && !has_met_all()); ++i)
        compare_with_sequential(first_seed + i, met);
    REQUIRE(met.saves > cases);
    REQUIRE(met.starts_amid > cases / 2);
    REQUIRE(met.rollbacks > 0);
    REQUIRE(met.groups_moved > 0);
}

TEST_CASE("every engine can continue a run that another engine saved") {
    constexpr std::uint64_t tries_max = 20;
    for (const EngineKind from : all_engines)
        for (const EngineKind to : all_engines) {
            INFO(name_of(from) << " to " << name_of(to));
            Met met;
            const Engines engines(from, to);
            for (std::uint64_t i = 1; i <= tries_max && met.changes[engines] == 0; ++i)
                compare_with_sequential(500 + i, met, engines);
            CHECK(met.changes[engines] > 0);
        }
}

TEST_CASE("a run in parts with different options gives the sequential result") {
    compare_cases(1, test::effort(40));
}

TEST_CASE("nightly: a run in parts with different options gives the sequential result",
          "[.nightly]") {
    compare_cases(nightly_seed(), nightly_cases(1000));
}

// --- Failures that are undone --------------------------------------------------------------------

TEST_CASE("a run in parts gives the sequential result if handlers fail in mis-speculated states") {
    GapModel reference_model({});
    const RunResult reference = run_model(reference_model, wild_config(EngineKind::sequential));
    Met met;
    for (const Fault fault : all_faults) {
        INFO(name_of(fault));
        Dice dice(7);
        Chain chain;
        RunResult result;
        for (int part = 1;; ++part) {
            GapModel model({.fault = fault, .slow_half = true});
            Config config = wild_config(EngineKind::timewarp);
            config.workers = static_cast<std::uint32_t>(1 + dice.below(3));
            config.save.period_seconds = 0.02;
            const VirtualTime stop = part == parts_max
                                         ? time_infinity
                                         : draw_stop(dice, chain.saved_at(), reference.end_time);
            result = chain.resume(model, config, stop);
            add(met, result, chain);
            if (result.reason != EndReason::interrupted) break;
        }
        CHECK(result.digest.hex() == reference.digest.hex());
        CHECK(result.totals[Counter::committed_events] ==
              reference.totals[Counter::committed_events]);
        CHECK(result.end_time == reference.end_time);
        met.failed_speculations += result.totals[Counter::failed_speculations];
    }
    CHECK(met.starts_amid > std::size(all_faults) / 2);
    CHECK(met.failed_speculations > 0);
}

// --- Pointers out of LPs -------------------------------------------------------------------------

TEST_CASE("after a restart LPs use the shared model data of the new process") {
    for (const char* handlers : {"plain", "typed"}) {
        INFO(handlers);
        PointerModel reference_model(handlers);
        const RunResult reference = run_model(reference_model, wild_config(EngineKind::sequential));
        reference_model.spoil();
        Dice dice(11);
        Met met;
        Chain chain;
        std::vector<std::unique_ptr<PointerModel>>
            models;  // kept: the next model has another address
        RunResult result;
        for (int part = 1;; ++part) {
            Config config = wild_config(EngineKind::timewarp);
            config.lps_per_group = 3;
            models.push_back(std::make_unique<PointerModel>(handlers));
            const VirtualTime stop = part == parts_max
                                         ? time_infinity
                                         : draw_stop(dice, chain.saved_at(), reference.end_time);
            result = chain.resume(*models.back(), config, stop);
            models.back()->spoil();
            add(met, result, chain);
            if (result.reason != EndReason::interrupted) break;
        }
        CHECK(result.digest.hex() == reference.digest.hex());
        CHECK(result.end_time == reference.end_time);
        CHECK(met.starts_amid > 0);
        // With a sanitizer, numbers can look like addresses of the sanitizer's memory.
        if (!sanitized) CHECK(chain.warnings.empty());
    }
}

TEST_CASE("pointers out of LPs that handlers have made are counted and reported once") {
    PointerModel model("astray");
    Config config = wild_config(EngineKind::timewarp);
    config.save.period_seconds = 0.001;
    Chain chain;
    chain.resume(model, config, time_infinity);
    REQUIRE(chain.saves > 1);
    REQUIRE(chain.warnings.size() == 1);
    CHECK(chain.warnings[0].find("look like pointers to memory outside of the LPs") !=
          std::string::npos);
    CHECK(chain.warnings[0].find("docs/how-to/checkpoints.md") != std::string::npos);
}

}  // namespace
}  // namespace nw::test
