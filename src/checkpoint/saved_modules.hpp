// The shared libraries of a saved run, and those of the process that is to go on with it. LPs hold
// pointers into them (to virtual functions, facets of locales, memory resources), which are worth
// something only where the same library lies at the same address.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/saved_run.hpp"
#include "numa/os/modules.hpp"

namespace nw {

// The one that holds the address.
std::optional<std::size_t> module_at(const std::vector<LoadedModule>& modules,
                                     std::uint64_t address) noexcept;

// Throws SetupError, with the first library that is not here, is another build, or lies elsewhere
// although LPs point into it. `own`: in this process, when it began.
void check_modules(const SavedRun& saved, const std::vector<LoadedModule>& own);

}  // namespace nw
