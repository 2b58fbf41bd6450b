// The options that a model declares in options(), as rows of the table.
#pragma once

#include <numawarp/model.hpp>

namespace nw {

class OptionBuilder;

// Throws SetupError where a name cannot be typed or is taken, or a default is not legal; and whatever
// the model's own code throws.
void add_model_options(OptionBuilder& table, Model& model);

}  // namespace nw
