// From argv to settings. What a value may be, and what is said when it is not, is the option table's
// business, so that the command line and the configuration file speak with one voice.
#pragma once

#include <string>
#include <vector>

#include "options/option_table.hpp"

namespace nw {

// Reads the arguments (argv without the program's name), and the configuration file if they name
// one, into the settings and model members behind the table. The command line wins over the file,
// the last of two equal options over the first. Throws SetupError.
// Ensures: with --help or --version only that flag is looked at.
void read_command_line(const std::vector<std::string>& arguments, const OptionTable& table,
                       Settings& settings);

// What this process was started with, the program first. main() may have taken words for itself, as the doors for
// other simulators' models do, and not have handed them to nw::run. Throws MachineError.
std::vector<std::string> own_command_line();

std::string help_text(const Model& model, const OptionTable& table);
std::string version_text(const Model& model);

}  // namespace nw
