// SPDX-License-Identifier: Apache-2.0
// Whether and when a whole run is saved (--checkpoint), and the properties that a restart must have
// in common with the saved run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "numa/os/modules.hpp"

namespace nw {

// Names and values that identify a run: program, model, options.
using RunIdentity = std::vector<std::pair<std::string, std::string>>;

struct SaveOptions {
    std::string directory;  // empty: the run is not saved
    double period_seconds = 600;
    RunIdentity identity;
    // The libraries of this process at its start. They are also set if only --restart is given.
    // (MPI loads more libraries later. The set of these libraries and their addresses vary.)
    std::vector<LoadedModule> modules;
    // Why libraries will have different addresses in the next process; empty: the addresses will be
    // the same.
    std::string why_addresses_differ;
    bool on() const noexcept { return !directory.empty(); }
};

struct SavedRun;

}  // namespace nw
