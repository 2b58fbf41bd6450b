// SPDX-License-Identifier: Apache-2.0
// The bandwidths between this machine's nodes. They come from the first of these sources that
// exists: (1) a file that the user names; (2) a measurement of `./jobs/run machine` in the user's
// cache folder; (3) the firmware's table (HMAT) for each node's own CPUs, and distances for all
// other pairs; (4) distances for all pairs. Reports name the source.
//
// Thread: any.
#pragma once

#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/decide/bandwidth_matrix.hpp"
#include "numa/os/os.hpp"

namespace nw {

struct KnownMachine {
    std::vector<NodeId> nodes;  // the nodes of the rows and columns
    BandwidthMatrix bandwidth;  // MB/s, or values that are only proportional to MB/s
    std::string source;         // for users: "measured on 2026-02-28", "distances between nodes"
    bool is_mb_s = true;        // false: only distances are available
};

// `file`: empty, or FILE or FILE#NAME. Throws SetupError with one line if the file is not valid or
// its number of nodes is not that of the machine. A measurement in the cache folder that belongs to
// another machine is ignored. Requires: the machine has at most decision_nodes_max nodes.
KnownMachine known_machine(Os& os, const std::string& file);

// "unknown" if the kernel does not return a name.
std::string host_name();

// The file with the measurements of this host. Empty if neither XDG_CACHE_HOME nor HOME is an
// absolute path.
std::string cached_machine_file();

}  // namespace nw
