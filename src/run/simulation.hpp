// Runs a model to its end with the engine the configuration asks for. The one door from src/main
// into the engines. In steps, so that several ranks can agree between them: what is wrong with the plan
// is found by all, and said by one.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include <numawarp/model.hpp>

#include "net/rank_group.hpp"
#include "numa/place/topology.hpp"
#include "plan/config.hpp"
#include "plan/rank_places.hpp"
#include "plan/run_plan.hpp"
#include "stats/live_progress.hpp"
#include "stats/run_result.hpp"
#include "stats/stopwatch.hpp"

namespace nw {

class Simulation {
  public:
    // Collective: the ranks learn where their workers run. What is handed in outlives this.
    // Requires: a setup and a configuration that go together (options/setup_rules.hpp).
    Simulation(const Setup& setup, const Config& config, RankGroup& ranks);

    // Not collective, but with the same outcome on all ranks. Throws SetupError where there are too many
    // ranks, workers or groups.
    void plan();

    // Collective; what the first returns is the result of all. Throws SetupError (2), ModelError (3),
    // MachineError (4), InternalError (1). `stop_signal` becomes SIGINT or SIGTERM when the user wants
    // an orderly end. Requires: plan() was called.
    RunResult run(Model& model, LiveProgress& progress, const std::atomic<int>& stop_signal);

  private:
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

// All of it, in this process alone.
RunResult simulate(Model& model, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal);

}  // namespace nw
