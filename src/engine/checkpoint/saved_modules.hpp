// SPDX-License-Identifier: Apache-2.0
// Compares the shared libraries of a saved run with the libraries of the process that is to
// continue the run. LPs contain pointers into libraries (to virtual functions, facets of locales,
// memory resources). These pointers are valid only if the same library is at the same address.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/checkpoint/saved_run.hpp"
#include "numa/os/modules.hpp"

namespace nw {

// The index of the library that contains the address; nullopt if no library contains it.
std::optional<std::size_t> module_at(const std::vector<LoadedModule>& modules,
                                     std::uint64_t address) noexcept;

// Throws SetupError if a library of the saved run is not loaded, is another build, or is at another
// address although LPs point into it. `own`: the libraries of this process when it began.
void check_modules(const SavedRun& saved, const std::vector<LoadedModule>& own);

}  // namespace nw
