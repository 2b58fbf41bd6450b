// SPDX-License-Identifier: Apache-2.0
// Runs a model to its end with the configured engine. src/app uses the engines only through this
// class. A run consists of several steps, so that the ranks can agree after each step. For example,
// all ranks find an error in the plan, and one rank reports it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include <numawarp/model.hpp>

#include "app/simulation/rank_places.hpp"
#include "net/rank_group.hpp"
#include "numa/place/topology.hpp"
#include "plan/config.hpp"
#include "plan/run_plan.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/run_result.hpp"
#include "results/statistics/stopwatch.hpp"

namespace nw {

class Simulation {
  public:
    // Collective: the ranks determine where their workers run. Requires: the arguments outlive this
    // object; setup and configuration are consistent (app/options/setup_rules.hpp).
    Simulation(const Setup& setup, const Config& config, RankGroup& ranks);

    // Not collective, but with the same outcome on all ranks. Throws SetupError if there are too
    // many ranks, workers or groups.
    void plan();

    // Collective. The first rank returns the result of all ranks. Throws SetupError (exit code 2),
    // ModelError (3), MachineError (4), InternalError (1). `stop_signal` becomes SIGINT or SIGTERM
    // when the user requests an orderly end. Requires: plan() was called.
    RunResult run(Model& model, LiveProgress& progress, const std::atomic<int>& stop_signal);

  private:
    std::vector<double> worker_shares() const;
    void run_events(Model& model, std::uint64_t memory_cap, LiveProgress& progress,
                    const std::atomic<int>& stop_signal, RunResult& result);

    const Stopwatch whole_;
    const Setup& setup_;
    const Config& config_;
    RankGroup& ranks_;
    const Topology topology_;
    const RankPlaces where_;
    std::optional<RunPlan> plan_;
};

// Performs all steps, in this process alone.
RunResult simulate(Model& model, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal);

}  // namespace nw
