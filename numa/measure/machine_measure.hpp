// How fast this machine's nodes read from each other's memory: `./jobs/run machine`. Each node's CPUs (one
// of each core) read a buffer on each node, in sequence for the bandwidth; alone, and while every other
// node's CPUs read from a node of their own, too. One CPU follows a chain through it in random order for
// the latency. It takes an eighth of a second a pair of nodes.
//
// Thread: starts its own; nothing else should run on the machine.
#pragma once

#include <cstddef>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"

namespace nw {

// Rows by node of the CPUs, columns by node of the memory, in the order of `nodes`. Of a node without
// CPUs nothing can be measured as a reader: its row is what others read from it.
struct MeasuredMachine {
    std::vector<NodeId> nodes;
    std::vector<std::vector<double>> bandwidth;       // MB/s, of a pair alone
    std::vector<std::vector<double>> bandwidth_busy;  // while all nodes read
    std::vector<std::vector<double>> latency_ns;
};

struct MeasureEffort {
    std::size_t buffer_bytes = std::size_t{512} << 20;  // a node; less where less is free
    double seconds = 0.05;                              // a bandwidth
    std::size_t hops = 200'000;                         // a latency
};

// Throws MachineError where threads cannot be started; or bound, or pages not be put on nodes, of which there
// are several.
MeasuredMachine measure_machine(Os& os, const MeasureEffort& effort = {});

}  // namespace nw
