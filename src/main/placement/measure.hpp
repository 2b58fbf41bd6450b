// `placement measure [FILE]`: measures this machine, prints its tables, and keeps them in FILE, or where
// runs on this machine find them.
#pragma once

#include <string>

namespace nw {

// Returns what to print. Throws SetupError or MachineError of one line.
std::string measure_and_keep(std::string file);

}  // namespace nw
