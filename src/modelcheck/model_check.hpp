// --check-model: the beginning of a model is run several times, each time in a process of its own and in
// another way, and what differs says which rule the model breaks (docs/how-to/check-model.md). Each process is this
// program once more, with the same command line; an environment variable tells it which run it is.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <numawarp/model.hpp>

#include "checked/checked_run.hpp"
#include "options/option_table.hpp"
#include "stats/run_result.hpp"

namespace nw {

// Starts the runs and says on standard output what became of each, then a sentence about each rule that is
// broken. Returns the exit code: 3 if there is one. Throws SetupError, MachineError.
int check_model(const Model& model, const Settings& settings);

// One of the runs.
class ModelCheckRun {
  public:
    // Null if this process is none.
    static std::unique_ptr<ModelCheckRun> of_environment();

    // The settings become those of this run; only what the model itself is like stays as the user wrote it.
    // Ensures: they refer to this.
    void apply_to(Settings& settings, const Model& model, std::span<std::byte> main_variables);
    // To who started it.
    void report(const Setup& setup, const RunResult& result);

  private:
    explicit ModelCheckRun(nlohmann::json wanted) : wanted_(std::move(wanted)) {}

    const nlohmann::json wanted_;
    std::unique_ptr<CheckedRun> checked_;
};

}  // namespace nw
