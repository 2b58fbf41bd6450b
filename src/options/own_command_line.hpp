// The command line that this process was started with.
#pragma once

#include <string>
#include <vector>

namespace nw {

// With the program first. main() may have taken words for itself, as the doors for other simulators' models do, and
// not have handed them to nw::run. Throws MachineError.
std::vector<std::string> own_command_line();

}  // namespace nw
