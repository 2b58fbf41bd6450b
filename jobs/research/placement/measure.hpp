// SPDX-License-Identifier: Apache-2.0
// `placement measure [FILE]`: measures this machine, prints the tables, and writes them to FILE.
// Without FILE, it writes them to the cache file. Runs on this machine read the cache file.
#pragma once

#include <string>

#include "jobs/research/placement/machine_measure.hpp"
#include "numa/os/machine.hpp"

namespace nw {

// The JSON text of a measurement: the machine, the names of its nodes, and the tables.
std::string describe_measure(const MeasuredMachine& measured, const Machine& machine);

// Measures, writes the file, and returns the text to print. An empty `file` means the cache file.
// Throws SetupError or MachineError with a message of one line.
std::string measure_and_keep(std::string file);

}  // namespace nw
