// A machine as a file describes it (`--machine FILE`, written by `./jobs/run machine`): JSON, in which
// bw[c][m] are the MB/s that the CPUs of node c read from the memory of node m.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

struct MachineFile {
    std::string source;  // which machine it was, and who measured it; may be empty
    BandwidthMatrix bandwidth;
};

// Of an object with "bw" and, perhaps, "source". Throws SetupError.
MachineFile machine_of(const nlohmann::json& description);

// Reads FILE, or FILE#NAME for one of several machines in a file, by their names. Throws SetupError of
// one line, which begins with the file's name.
MachineFile read_machine_file(const std::string& file_and_name);

// A JSON file, whole. Throws SetupError likewise.
nlohmann::json read_json(const std::string& file);

}  // namespace nw
