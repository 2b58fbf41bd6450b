// SPDX-License-Identifier: Apache-2.0
// Sets a model's options from a program, as the command line does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/options/command_line.hpp"

namespace nw::test {

// `values` maps names without dashes to values. Throws SetupError.
inline void set_options(Model& model, const std::map<std::string, std::string>& values) {
    Settings settings;
    const OptionTable table(settings, model);
    std::vector<std::string> arguments;
    for (const auto& [name, value] : values) arguments.push_back("--" + name + '=' + value);
    read_command_line(arguments, table, settings);
}

}  // namespace nw::test
