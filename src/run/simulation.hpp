// Runs a model to its end with the engine the configuration asks for. The one door from src/main
// into the engines.
#pragma once

#include <atomic>
#include <cstdint>

#include <numawarp/model.hpp>

#include "net/rank_group.hpp"
#include "plan/config.hpp"
#include "stats/live_progress.hpp"
#include "stats/run_result.hpp"

namespace nw {

// Whether the configuration goes with the model and the number of ranks, as far as that can be known
// beforehand. Throws SetupError.
void check_run(const Setup& setup, const Config& config, std::uint32_t ranks);

// Collective over the ranks; what the first returns is the result of all. Throws SetupError (2),
// ModelError (3), MachineError (4), InternalError (1). `stop_signal` becomes SIGINT or SIGTERM when the
// user wants an orderly end.
RunResult simulate(Model& model, const Setup& setup, const Config& config, RankGroup& ranks,
                   LiveProgress& progress, const std::atomic<int>& stop_signal);
// In this process alone.
RunResult simulate(Model& model, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal);

}  // namespace nw
