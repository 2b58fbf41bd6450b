// SPDX-License-Identifier: Apache-2.0
// Adds the options that a model declares in options() to the option table.
#pragma once

#include <numawarp/model.hpp>

namespace nw {

class OptionBuilder;

// Throws SetupError if a name cannot be typed or is already used, or if a default value is not
// allowed. Exceptions of the model's own code pass through.
void add_model_options(OptionBuilder& table, Model& model);

}  // namespace nw
