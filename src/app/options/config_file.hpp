// SPDX-License-Identifier: Apache-2.0
// --config FILE.toml: the names of the options are top-level keys.
//
//     workers = 2
//     until = 7200
//     pin = false          # true and false are allowed for on and off
#pragma once

#include <functional>
#include <set>
#include <string>

#include "app/options/option_table.hpp"

namespace nw {

// Sets the options that the file names, and adds their names to `given`. Throws SetupError; the
// message names the file and the key.
void apply_config_file(const std::string& path, const OptionTable& table,
                       std::set<std::string, std::less<>>& given);

}  // namespace nw
