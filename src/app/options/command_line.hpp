// SPDX-License-Identifier: Apache-2.0
// Reads the command line into the settings. The option table defines the allowed values and the
// error messages, so they are the same for the command line and for the configuration file.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.hpp"

namespace nw {

// Reads the arguments (argv without the program's name) into the settings, and into the model's
// members to which the table refers. If the arguments name a configuration file, reads the file in
// the same way. The command line has precedence over the file, and the last occurrence of an option
// has precedence over earlier ones. Throws SetupError. Ensures: if --help or --version is given,
// every other argument is ignored.
void read_command_line(const std::vector<std::string>& arguments, const OptionTable& table,
                       Settings& settings);

// Returns the whole command line of this process, beginning with the program. The command line may
// contain arguments that main() did not pass to nw::run, for example in programs that run the
// models of other simulators. Throws MachineError.
std::vector<std::string> own_command_line();

std::string help_text(const Model& model, const OptionTable& table);
std::string version_text(const Model& model);

}  // namespace nw
