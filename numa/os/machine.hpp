// SPDX-License-Identifier: Apache-2.0
// The machine, as hwloc reports it: the CPUs that this process may use, the nodes that have memory,
// and the distances between nodes.
//
// hwloc is used instead of /sys, because hwloc supports control groups, offline CPUs, and nodes
// without CPUs or without memory. hwloc can also describe another machine (HWLOC_XMLFILE,
// HWLOC_SYNTHETIC); tests use this feature. The description of such a machine is not checked. A run
// on a described machine cannot bind threads or move pages; it reports this and continues.
//
// Thread: any; no state is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"

namespace nw {

struct Machine {
    struct Node {
        NodeId id{0};
        std::uint64_t total_bytes = 0;
        std::string name;  // as hwloc names it
    };

    std::vector<Cpu> cpus;    // in this process's cpuset, ordered by number; at least one
    std::vector<Node> nodes;  // with memory that this process may use, ordered; at least one

    bool is_this = true;  // false: the machine was described to hwloc (HWLOC_XMLFILE)

    // The firmware's distance (SLIT): 10 from a node to itself, 20 to a node that is twice as far.
    // The two directions may differ. 0: unknown.
    int distance(NodeId from, NodeId to) const noexcept;

    std::vector<NodeId> distance_nodes;    // the nodes of the rows and columns
    std::vector<std::uint64_t> distances;  // row by row

    // MB/s that the CPUs of node `cpu` read from node `memory`, according to the firmware (HMAT).
    // For each node, Linux reports only the bandwidth of the node's own CPUs. 0: unknown.
    double bandwidth(NodeId cpu, NodeId memory) const noexcept;

    struct Bandwidth {
        NodeId cpu;
        NodeId memory;
        double mb_s;
    };
    std::vector<Bandwidth> bandwidths;
};

Machine read_machine();

// The numbers of the CPUs on which the calling thread may run. `taskset`, mpirun or a control group
// may have excluded other CPUs. Offline CPUs are not included.
std::vector<int> bound_cpu_numbers();

// The name of the CPU's model, or "unknown".
std::string cpu_name();

}  // namespace nw
