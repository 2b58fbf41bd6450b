// What a model's Setup must keep to, alone and together with the options chosen, and these with each
// other. Checked once, before any worker starts; the engine relies on it. What depends on how many
// workers there will be, or on files, is checked where that is known.
#pragma once

#include <cstdint>

#include "options/option_table.hpp"

namespace nw {

// Throws SetupError.
void check_setup(const Model& model, const Setup& setup, const Settings& settings,
                 std::uint32_t ranks);

}  // namespace nw
