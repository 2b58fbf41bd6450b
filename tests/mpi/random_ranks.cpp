// SPDX-License-Identifier: Apache-2.0
// Goal: for any model and any options, several ranks give the sequential engine's result, bit by
// bit: digest, committed events, end, output files, data that on_commit received.
//
// Method: as in tests/engine/test_differential.cpp, a random model and random options are drawn
// from one seed, but the model runs under mpirun. All ranks draw the same cases and run them one
// after another in one launch, because a launch takes longer than a case. The first rank compares
// the results.
//
//     mpirun -np 3 random_ranks CASES [FIRST-SEED]
//
// Ten cases or more must contain all activities that are tested. If an activity has not occurred,
// up to ten times as many cases are run.
//
// A failure prints its seed. `CASES` 1 with that seed and the same number of ranks repeats the
// case.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/simulation/simulation.hpp"
#include "mpi/session.hpp"
#include "tests/engine/outcome.hpp"
#include "tests/engine/random_config.hpp"
#include "tests/support/delays.hpp"

namespace nw::test {
namespace {

struct Case {
    RandomShape shape;
    Config config;
    double delays;  // share of the handoffs at which a thread is delayed
};

// Sums over all cases.
struct Sums {
    Counters timewarp;
    Counters conservative;
    std::uint64_t engine_changes = 0;  // in runs whose engines alternate
};

Case draw_case(std::uint64_t seed, std::uint32_t ranks) {
    Dice dice(seed);
    Case drawn;
    drawn.shape = draw_shape(dice, 500 + static_cast<std::uint32_t>(dice.below(2000)));
    drawn.shape.lps = std::max(drawn.shape.lps, ranks);
    drawn.config = draw_config(dice, drawn.shape);
    drawn.config.workers = static_cast<std::uint32_t>(1 + dice.below(3));
    drawn.config.net_thread = dice.chance(0.25);
    const Setup setup = RandomModel(drawn.shape).setup();
    const RunPlan plan(setup, drawn.config, ranks, drawn.config.workers, nullptr);
    if (plan.partition.groups() < ranks) drawn.config.lps_per_group = 1;
    const double shares[] = {0, 0.001, 0.01};
    drawn.delays = shares[dice.below(3)];
    return drawn;
}

// Adds up the counts that each rank made in on_commit.
void add_up_commits(RankGroup& ranks, Outcome& outcome) {
    const std::string own = fmt::format("{} {}", outcome.on_commit_events, outcome.on_commit_sum);
    outcome.on_commit_events = 0;
    outcome.on_commit_sum = 0;
    for (const std::string& theirs : ranks.share(own)) {
        char* rest = nullptr;
        outcome.on_commit_events += std::strtoull(theirs.c_str(), &rest, 10);
        outcome.on_commit_sum += std::strtoull(rest, nullptr, 10);
    }
}

// Collective. The result on the first rank is the outcome of all ranks; on other ranks it has no
// meaning.
Outcome run_on_ranks(const Case& drawn, RankGroup& ranks) {
    std::optional<TemporaryFolder> folder;
    if (ranks.is_first()) folder.emplace();
    Config config = drawn.config;
    config.output_directory = ranks.share(folder ? folder->path() : "").front();
    RandomModel model(drawn.shape);
    const Setup setup = setup_of(model, config);
    LiveProgress progress;
    const std::atomic<int> stop_signal{0};
    Simulation simulation(setup, config, ranks);
    simulation.plan();
    const RunResult result = simulation.run(model, progress, stop_signal);
    Outcome outcome{.digest = result.digest.hex(),
                    .committed_events = result.totals[Counter::committed_events],
                    .reason = result.reason,
                    .end_time = result.end_time,
                    .events_file = folder ? folder->read("events.csv") : "",
                    .states_file = folder ? folder->read("states.csv") : "",
                    .measures_file = folder ? folder->read("measures.csv") : "",
                    .intervals_file = folder ? folder->read("measure_intervals.csv") : "",
                    .on_commit_events = model.log().events,
                    .on_commit_sum = model.log().sum,
                    .counters = result.totals,
                    .engine_changes = result.engine_changes};
    add_up_commits(ranks, outcome);
    return outcome;
}

// Describes the differences; empty if there are none.
std::string differences(const Outcome& outcome, const Outcome& reference) {
    std::string text;
    const auto compare = [&](const char* what, const auto& is, const auto& should) {
        if (is != should) text += fmt::format("  {}: {}, not {}\n", what, is, should);
    };
    compare("digest", outcome.digest, reference.digest);
    compare("committed events", outcome.committed_events, reference.committed_events);
    compare("reason", static_cast<int>(outcome.reason), static_cast<int>(reference.reason));
    compare("end time", outcome.end_time, reference.end_time);
    compare("on_commit calls", outcome.on_commit_events, reference.on_commit_events);
    compare("sum of on_commit", outcome.on_commit_sum, reference.on_commit_sum);
    if (outcome.events_file != reference.events_file) text += "  events.csv differs\n";
    if (outcome.states_file != reference.states_file) text += "  states.csv differs\n";
    if (outcome.measures_file != reference.measures_file) text += "  measures.csv differs\n";
    if (outcome.intervals_file != reference.intervals_file)
        text += "  measure_intervals.csv differs\n";
    return text;
}

bool case_holds(std::uint64_t seed, RankGroup& ranks, Sums& sums) {
    const Case drawn = draw_case(seed, ranks.ranks());
    const auto say = [&](const std::string& text) {
        fmt::print("FAILED  seed {} on {} ranks\n  {}\n  {}\n{}", seed, ranks.ranks(),
                   drawn.shape.describe(), describe(drawn.config), text);
        std::fflush(stdout);
    };
    try {
        const Outcome outcome = [&] {
            const InjectedDelays delays(seed, drawn.delays);
            return run_on_ranks(drawn, ranks);
        }();
        if (!ranks.is_first()) return true;
        const bool conservative = drawn.config.engine == EngineKind::conservative;
        (conservative ? sums.conservative : sums.timewarp).add(outcome.counters);
        sums.engine_changes += outcome.engine_changes;
        Config sequential = drawn.config;
        sequential.engine = EngineKind::sequential;
        sequential.check_rollback = 0;
        const std::string unlike = differences(outcome, run_random_model(drawn.shape, sequential));
        if (!unlike.empty()) say(unlike);
        return unlike.empty();
    } catch (const std::exception& error) {
        say(fmt::format("  rank {}: {}\n", index(ranks.rank()), error.what()));
        ranks.abort(EXIT_FAILURE);
        return false;
    }
}

// Activities that the cases must contain.
constexpr Counter in_conservative_runs[] = {Counter::events_crossed, Counter::events_sent,
                                            Counter::output_rows};
constexpr Counter in_timewarp_runs[] = {
    Counter::rollbacks,        Counter::stragglers,     Counter::anti_messages,
    Counter::forced_rollbacks, Counter::coasted_events, Counter::events_crossed,
    Counter::events_sent,      Counter::window_stops,   Counter::output_rows,
    Counter::groups_moved,     Counter::groups_sent};

bool cover_all(const Sums& sums) {
    const auto occurred_in = [](const Counters& counters) {
        return [&counters](Counter counter) { return counters[counter] > 0; };
    };
    return std::ranges::all_of(in_conservative_runs, occurred_in(sums.conservative)) &&
           std::ranges::all_of(in_timewarp_runs, occurred_in(sums.timewarp)) &&
           sums.engine_changes > 0;
}

void print(const Sums& sums) {
    const auto print_counts = [](const Counters& counters, std::span<const Counter> which,
                                 const char* where) {
        for (const Counter counter : which)
            fmt::print("{:>12} {}{}\n", counters[counter],
                       counter_table[static_cast<std::size_t>(counter)].name, where);
    };
    print_counts(sums.conservative, in_conservative_runs, " by conservative runs");
    print_counts(sums.timewarp, in_timewarp_runs, "");
    fmt::print("{:>12} changes of the engine\n", sums.engine_changes);
}

int run(std::size_t cases, std::uint64_t first_seed) {
    const std::unique_ptr<RankGroup> ranks = join_ranks();
    Sums sums;
    // Fewer than ten cases repeat a failure, and need not contain all activities.
    const bool must_cover = cases >= 10;
    // Collective, because only the first rank has the counts.
    const auto is_covered = [&] {
        return !must_cover || ranks->share(cover_all(sums) ? "covered" : "").front() == "covered";
    };
    // Some activities depend on time: if the runs are short, perhaps no group moves to another
    // rank. Then more cases are run.
    const std::size_t cases_max = 10 * cases;
    std::size_t failed = 0;
    std::size_t done = 0;
    while (done < cases || (done < cases_max && !is_covered()))
        failed += !case_holds(first_seed + done++, *ranks, sums);
    const bool covered = is_covered();
    if (!ranks->is_first()) return EXIT_SUCCESS;
    fmt::print("{} of {} cases on {} ranks failed\n", failed, done, ranks->ranks());
    if (must_cover) print(sums);
    return failed == 0 && covered ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace nw::test

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "usage: mpirun -np RANKS {} CASES [FIRST-SEED]\n", argv[0]);
        return EXIT_FAILURE;
    }
    return nw::test::run(std::strtoull(argv[1], nullptr, 10),
                         argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
}
