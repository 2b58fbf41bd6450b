// --config FILE.toml: the options' own names as top-level keys.
//
//     workers = 2
//     until = 7200
//     pin = false          # on and off may be said as true and false
#pragma once

#include <functional>
#include <set>
#include <string>

#include "options/option_table.hpp"

namespace nw {

// Sets the options that the file names, and adds their names to `given`. Throws SetupError, naming file
// and key.
void apply_config_file(const std::string& path, const OptionTable& table,
                       std::set<std::string, std::less<>>& given);

}  // namespace nw
