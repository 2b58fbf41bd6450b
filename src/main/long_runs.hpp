// --checkpoint and --restart, before and after the run.
#pragma once

#include <string>
#include <vector>

#include "engine/save_options.hpp"
#include "main/option_table.hpp"
#include "net/rank_group.hpp"

namespace nw {

// Checks the folders, and finds the saved run to go on from (settings.config.restart_from).
// `identity`: what must be alike for that. Throws SetupError. Changes nothing on the disk but that
// the folder of --checkpoint is made.
void prepare_long_run(Settings& settings, RunIdentity identity);

// The line for a user whose run was saved and has ended. `arguments`: those of the command line.
std::string how_to_go_on(const std::string& program, const std::vector<std::string>& arguments,
                         const Settings& settings, VirtualTime saved_at);

}  // namespace nw
