// What is known of how this machine's nodes read from each other: a file that the user names; what
// `./jobs/run machine` has measured and left in the user's cache folder; what firmware says (HMAT, of each
// node's own CPUs only), with distances for the rest; distances alone. Reports name the source.
//
// Thread: any.
#pragma once

#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/decide/bandwidth_matrix.hpp"
#include "numa/measure/machine_measure.hpp"
#include "numa/os/machine.hpp"
#include "numa/os/os.hpp"

namespace nw {

struct KnownMachine {
    std::vector<NodeId> nodes;  // rows and columns of
    BandwidthMatrix bandwidth;  // MB/s, or in proportion to that
    std::string source;         // for people: "measured on 2026-02-28", "distances between nodes"
    bool is_mb_s = true;        // false: distances alone are known
};

// `file`: empty, or FILE or FILE#NAME. Throws SetupError of one line if such a file is not as it must be
// or has another number of nodes than the machine; or if the machine has more than decisions know. What was
// measured on another machine is passed over.
KnownMachine known_machine(Os& os, const std::string& file);

// Where measures of this host are kept: empty if the user has no folder for that.
std::string cached_machine_file();

// The JSON of a measure: which machine it was, its names of nodes, and the tables.
std::string describe_measure(const MeasuredMachine& measured, const Machine& machine);

}  // namespace nw
