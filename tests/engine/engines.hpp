// SPDX-License-Identifier: Apache-2.0
// Runs a model with any engine, and returns the message of a failed run.
#pragma once

#include <atomic>
#include <string>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "app/simulation/simulation.hpp"
#include "util/check.hpp"

namespace nw::test {

inline constexpr EngineKind all_engines[] = {EngineKind::sequential, EngineKind::conservative,
                                             EngineKind::timewarp};

inline const char* name_of(EngineKind engine) {
    switch (engine) {
        case EngineKind::sequential:
            return "sequential";
        case EngineKind::conservative:
            return "conservative";
        default:
            return "timewarp";
    }
}

// Two workers, groups of one LP and no window, so that as many events as possible are executed out
// of order.
inline Config wild_config(EngineKind engine) {
    Config config;
    config.engine = engine;
    config.workers = engine == EngineKind::sequential ? 1 : 2;
    config.lps_per_group = 1;
    config.window_mode = WindowMode::off;
    config.gvt_interval_ms = 1;
    config.pin = false;
    return config;
}

inline RunResult run_model(Model& model, const Config& config,
                           const std::atomic<int>& stop_signal = std::atomic<int>{0}) {
    const Setup setup = model.setup();
    LiveProgress progress;
    return simulate(model, setup, config, progress, stop_signal);
}

// Returns the message of the ModelError that ends the run, or a text that describes another
// outcome.
inline std::string model_error_of(Model& model, const Config& config) {
    try {
        run_model(model, config);
    } catch (const ModelError& error) {
        return error.what();
    } catch (const std::exception& error) {
        return fmt::format("not a ModelError: {}", error.what());
    }
    return "no error";
}

}  // namespace nw::test
