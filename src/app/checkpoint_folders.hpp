// SPDX-License-Identifier: Apache-2.0
// The folders of --checkpoint and --restart, before and after the run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/options/option_table.hpp"
#include "engine/checkpoint/saved_run_folder.hpp"
#include "net/rank_group.hpp"
#include "plan/save_options.hpp"

namespace nw {

// The first rank locks both folders for this run. The caller keeps the returned lock until the run
// is over. A null pointer means that this rank locks nothing.

// Locks the folder of --restart. Called on the first rank, before any rank reads the folder,
// because another run that holds the lock may still save a newer checkpoint. Throws SetupError.
std::unique_ptr<FolderLock> lock_restart_folder(const Settings& settings);

// If --restart is set, reads the saved run into settings.config.restart_from. `identity` must equal
// the saved run's identity. `modules` are the libraries that the process had loaded at its start.
// Stores `modules` in settings.config.save, and, if this run is saved, also `identity`. Throws
// SetupError, also if the end time of this run is not later than the time that the saved run has
// reached.
void find_saved_run(Settings& settings, RunIdentity identity, std::vector<LoadedModule> modules,
                    const Setup& setup, bool is_first);

// Creates the folder of --checkpoint and checks it. Locks it, unless it is the folder of --restart.
// Throws SetupError.
std::unique_ptr<FolderLock> prepare_checkpoint_folder(const Settings& settings, bool is_first);

// Returns the line that is printed after an interrupted run was saved. The line contains the
// command that continues the run. `own_words_last`: as in Setup. Throws MachineError.
std::string restart_hint(const Settings& settings, std::size_t own_words_last, VirtualTime saved_at,
                         std::uint32_t ranks);

}  // namespace nw
