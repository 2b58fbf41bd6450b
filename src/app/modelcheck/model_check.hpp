// SPDX-License-Identifier: Apache-2.0
// --check-model: runs the beginning of a model several times, each time in another process and in
// another way. The differences between the runs show which rule the model breaks
// (docs/how-to/check-model.md). Each process executes this program with the same command line; an
// environment variable selects the run.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <numawarp/model.hpp>

#include "app/options/option_table.hpp"
#include "engine/checked/checked_run.hpp"
#include "results/statistics/run_result.hpp"

namespace nw {

// Starts the runs. Prints the result of each run to standard output, and then a sentence about each
// broken rule. Returns the exit code, which is 3 if a rule is broken. Throws SetupError,
// MachineError.
int check_model(const Model& model, const Settings& settings);

// Configures and reports one of the runs. Exists only in the process that executes this run.
class ModelCheckRun {
  public:
    // Returns null if this process is not one of the runs.
    static std::unique_ptr<ModelCheckRun> of_environment();

    // Replaces the settings with those of this run. The options whose records permit it
    // (InCheckModel::kept) keep the user's values.
    // Requires: `table` refers to `settings`.
    // Ensures: the settings refer to this object, which must outlive the run.
    void apply_to(Settings& settings, const OptionTable& table, const Model& model,
                  std::span<std::byte> main_variables);
    // Sends the results to the process that started this run.
    void report(const Setup& setup, const RunResult& result);

  private:
    explicit ModelCheckRun(nlohmann::json wanted) : wanted_(std::move(wanted)) {}

    const nlohmann::json wanted_;
    std::unique_ptr<CheckedRun> checked_;
};

}  // namespace nw
