// SPDX-License-Identifier: Apache-2.0
// The description of a machine in a JSON file (`--machine FILE`, written by `./jobs/run machine`).
// bw[c][m]: MB/s that the CPUs of node c read from the memory of node m.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

struct MachineFile {
    std::string source;  // which machine, and how it was measured; may be empty
    BandwidthMatrix bandwidth;
};

// Converts an object with "bw" and optionally "source". Throws SetupError.
MachineFile machine_of(const nlohmann::json& description);

// Reads FILE, or FILE#NAME if the file describes several machines by name. Throws SetupError with
// one line that begins with the file's name.
MachineFile read_machine_file(const std::string& file_and_name);

// Reads a whole JSON file. Throws SetupError with one line that begins with the file's name.
nlohmann::json read_json(const std::string& file);

}  // namespace nw
