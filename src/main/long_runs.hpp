// --checkpoint and --restart, before and after the run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/save_options.hpp"
#include "engine/saved_run_folder.hpp"
#include "main/option_table.hpp"
#include "net/rank_group.hpp"

namespace nw {

// Checks the folders, and finds the saved run to go on from (settings.config.restart_from).
// `identity`: what must be alike for that. The first rank keeps the folders for this run: hold what is
// returned until it is over. Throws SetupError. Changes nothing on the disk but that the folder of
// --checkpoint is made.
std::vector<std::unique_ptr<FolderLock>> prepare_long_run(Settings& settings, RunIdentity identity,
                                                          bool is_first);

// The line for a user whose run was saved and has ended. `arguments`: those of the command line.
std::string how_to_go_on(const std::string& program, const std::vector<std::string>& arguments,
                         const Settings& settings, VirtualTime saved_at, std::uint32_t ranks);

}  // namespace nw
