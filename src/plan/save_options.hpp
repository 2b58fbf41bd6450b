// Whether and when a whole run is saved (--checkpoint), and what it must have in common with the run
// that goes on from there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "numa/os/modules.hpp"

namespace nw {

// Names and values of what a run is: program, model, options.
using RunIdentity = std::vector<std::pair<std::string, std::string>>;

struct SaveOptions {
    std::string directory;  // empty: it is not saved
    double period_seconds = 600;
    RunIdentity identity;
    // Also with --restart alone: the libraries of this process, as they were when it began. (MPI loads
    // more, not always the same ones in the same places.)
    std::vector<LoadedModule> modules;
    std::string why_addresses_differ;  // of libraries, in the next process; empty: they will not
    bool on() const noexcept { return !directory.empty(); }
};

struct SavedRun;

}  // namespace nw
