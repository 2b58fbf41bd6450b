// What hwloc says of the machine: which CPUs this process may use, which nodes have memory, how far
// they are from one another.
//
// hwloc and not /sys by hand, because it knows control groups, offline CPUs, nodes without CPUs or
// without memory; and because another machine can be put in its place (HWLOC_XMLFILE,
// HWLOC_SYNTHETIC), which is how this file is tested. Such a machine is taken as it is described: no
// thread can be bound there and no page be moved, and a run says so and goes on.
// Thread: any; nothing is kept.
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
        std::string name;  // hwloc's
    };

    std::vector<Cpu> cpus;    // in this process's cpuset, ordered by number; at least one
    std::vector<Node> nodes;  // with memory that this process may use, ordered; at least one

    bool is_this = true;  // false: it was described to hwloc (HWLOC_XMLFILE)

    // As firmware has it (SLIT): 10 from a node to itself, 20 to one twice as far; not always the
    // same both ways. 0: unknown.
    int distance(NodeId from, NodeId to) const noexcept;

    std::vector<NodeId> distance_nodes;    // rows and columns of
    std::vector<std::uint64_t> distances;  // row by row

    // MB/s that a node's CPUs read from a node, as firmware has it (HMAT). Linux tells of each node
    // that of the CPUs next to it, and no other. 0: unknown.
    double bandwidth(NodeId cpu, NodeId memory) const noexcept;

    struct Bandwidth {
        NodeId cpu;
        NodeId memory;
        double mb_s;
    };
    std::vector<Bandwidth> bandwidths;
};

Machine read_machine();

// What `taskset`, mpirun or a control group leave to the calling thread, without CPUs that are offline.
std::vector<int> bound_cpu_numbers();

// The model's name, or "unknown".
std::string cpu_name();

}  // namespace nw
