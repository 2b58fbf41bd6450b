// SPDX-License-Identifier: Apache-2.0
// The result of one run: the values that must be equal on every engine, and the counters of the
// engine.
#pragma once

#include <atomic>
#include <string>

#include <numawarp/model.hpp>

#include "app/simulation/simulation.hpp"
#include "tests/engine/random_model.hpp"
#include "tests/support/temporary_folder.hpp"

namespace nw::test {

struct Outcome {
    std::string digest;
    std::uint64_t committed_events = 0;
    EndReason reason = EndReason::until;
    VirtualTime end_time = 0;
    std::string events_file;     // rows that handlers wrote
    std::string states_file;     // rows that on_end() wrote
    std::string measures_file;   // empty if the model has no measures
    std::string intervals_file;  // measures at intervals
    std::uint64_t on_commit_events = 0;
    std::uint64_t on_commit_sum = 0;
    Counters counters;
    std::uint32_t engine_changes = 0;
};

// The setup with the tables for measures, as nw::run() prepares it.
inline Setup setup_of(RandomModel& model, const Config& config) {
    Setup setup = model.setup();
    if (!setup.measures.empty()) add_measure_tables(setup.outputs, config.measure_interval > 0);
    return setup;
}

inline Outcome run_random_model(const RandomShape& shape, Config config) {
    const TemporaryFolder folder;
    config.output_directory = folder.path();
    RandomModel model(shape);
    const Setup setup = setup_of(model, config);
    LiveProgress progress;
    const std::atomic<int> stop_signal{0};
    const RunResult result = simulate(model, setup, config, progress, stop_signal);
    return {result.digest.hex(),
            result.totals[Counter::committed_events],
            result.reason,
            result.end_time,
            folder.read("events.csv"),
            folder.read("states.csv"),
            folder.read("measures.csv"),
            folder.read("measure_intervals.csv"),
            model.log().events,
            model.log().sum,
            result.totals,
            result.engine_changes};
}

}  // namespace nw::test
