// SPDX-License-Identifier: Apache-2.0
// Measures how fast the nodes of this machine read each other's memory (`./jobs/run machine`). For
// the bandwidth, the CPUs of each node (one CPU of each core) read a buffer on each node
// sequentially. This is done twice: first while all other CPUs are idle, then while the CPUs of all
// nodes read, each from the memory of a different node. For the latency, one CPU follows a chain
// through the buffer in random order. The measurement takes about an eighth of a second per pair of
// nodes.
//
// Thread: the function starts its own threads. No other program should run on the machine.
#pragma once

#include <cstddef>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"

namespace nw {

// Rows: the node of the CPUs. Columns: the node of the memory. Rows and columns are in the order of
// `nodes`. A node without CPUs cannot be measured as a reader; its row contains the values of the
// nodes that read from it.
struct MeasuredMachine {
    std::vector<NodeId> nodes;
    std::vector<std::vector<double>> bandwidth;       // MB/s while only this pair is active
    std::vector<std::vector<double>> bandwidth_busy;  // MB/s while all nodes read
    std::vector<std::vector<double>> latency_ns;
};

struct MeasureEffort {
    std::size_t buffer_bytes = std::size_t{512} << 20;  // per node; less if less is free
    double seconds = 0.05;                              // per bandwidth
    std::size_t hops = 200'000;                         // per latency
};

// Throws MachineError if threads cannot be started or a node has no free memory. On a machine with
// several nodes, also throws it if threads cannot be bound, or if pages cannot be moved to nodes.
MeasuredMachine measure_machine(Os& os, const MeasureEffort& effort = {});

}  // namespace nw
