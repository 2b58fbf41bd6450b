// Options of the engine that do nothing in a run, because of what else was chosen. Who wrote one is told
// so in a notice, and the statistics do not list it as in force.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/option_table.hpp"
#include "plan/config.hpp"

namespace nw {

// What decides it: the settings, and what the engine has made of them.
struct RunShape {
    Rollback rollback = Rollback::snapshot;
    std::uint64_t workers = 1;  // in all ranks
    std::uint64_t ranks = 1;
    bool commits_late = false;  // the model does
};

// Their names, each with why.
struct IdleOption {
    std::string name;
    std::string why;
};
std::vector<IdleOption> idle_options(const Settings& settings, const RunShape& shape);

// One line for each of them that the user wrote, unless it asks for what happens anyway.
std::vector<std::string> idle_notices(const Settings& settings, const OptionTable& table,
                                      const RunShape& shape);

}  // namespace nw
