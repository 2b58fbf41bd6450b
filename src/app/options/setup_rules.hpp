// SPDX-License-Identifier: Apache-2.0
// Rules for a model's Setup, for the combination of Setup and options, and for combinations of
// options. They are checked once, before any worker starts, and the engine relies on them. Rules
// that depend on the number of workers or on files are checked elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include "app/options/option_table.hpp"
#include "lp/rollback_methods.hpp"

namespace nw {

// The methods of --rollback that all LPs of these kinds support.
std::vector<const RollbackMethod*> supported_methods(const Kinds& kinds);

// Throws SetupError.
void check_setup(const Model& model, const Setup& setup, const OptionTable& table,
                 std::uint32_t ranks);

}  // namespace nw
