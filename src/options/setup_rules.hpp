// What a model's Setup must keep to, alone and together with the options chosen. Checked once,
// before any worker starts; the engine relies on it.
#pragma once

#include "plan/config.hpp"

namespace nw {

// Throws SetupError.
void check_setup(const Model& model, const Setup& setup, const Config& config);

}  // namespace nw
