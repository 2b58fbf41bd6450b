// --checkpoint and --restart, before and after the run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/saved_run_folder.hpp"
#include "net/rank_group.hpp"
#include "options/option_table.hpp"
#include "plan/save_options.hpp"

namespace nw {

// The first rank locks the folders of --restart and --checkpoint for this run: the caller holds what is
// returned until the run is over. Null where there is nothing to lock.

// Takes the folder of --restart, on the first rank and before any rank reads what is there: another run
// that holds it may be about to save once more. Throws SetupError.
std::unique_ptr<FolderLock> lock_restart_folder(const Settings& settings);

// Finds the saved run to go on from (settings.config.restart_from); `identity` is what must be alike for
// that, `modules` are the libraries of this process as it began. Both are kept for runs that are saved.
// Throws SetupError, also where the end of the run does not lie beyond where the saved one has come.
void find_saved_run(Settings& settings, RunIdentity identity, std::vector<LoadedModule> modules,
                    const Setup& setup, bool is_first);

// Makes, checks and keeps the folder of --checkpoint, unless it is that of --restart. Throws SetupError.
std::unique_ptr<FolderLock> prepare_checkpoint_folder(const Settings& settings, bool is_first);

// The line for a user whose run was saved and has ended. `own_words_last`: as in Setup. Throws MachineError.
std::string restart_hint(const Settings& settings, std::size_t own_words_last, VirtualTime saved_at,
                         std::uint32_t ranks);

}  // namespace nw
