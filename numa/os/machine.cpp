// SPDX-License-Identifier: Apache-2.0
#include "numa/os/machine.hpp"

#include <hwloc.h>
#include <numa.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>

namespace nw {
namespace {

struct DestroyTopology {
    void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using LoadedTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

// Null if hwloc has no topology of this machine.
LoadedTopology load_topology() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return nullptr;
    LoadedTopology topology(raw);
    if (hwloc_topology_load(raw) != 0) return nullptr;
    return topology;
}

bool is_this_machine(const LoadedTopology& topology) {
    return topology == nullptr || hwloc_topology_is_thissystem(topology.get()) != 0;
}

}  // namespace

std::vector<int> bound_cpu_numbers() {
    std::vector<int> numbers;
    // A machine may have more CPUs than cpu_set_t has bits.
    for (unsigned cpus = CPU_SETSIZE; cpus <= (1U << 20); cpus *= 4) {
        const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
        const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
            CPU_ALLOC(cpus), [](cpu_set_t* s) { CPU_FREE(s); });
        if (::sched_getaffinity(0, bytes, set.get()) != 0) {
            if (errno == EINVAL) continue;
            break;
        }
        for (unsigned cpu = 0; cpu < cpus; ++cpu)
            if (CPU_ISSET_S(cpu, bytes, set.get())) numbers.push_back(static_cast<int>(cpu));
        break;
    }
    return numbers;
}

namespace {

std::vector<int> cpu_numbers(const LoadedTopology& topology) {
    std::vector<int> numbers;
    if (is_this_machine(topology)) {
        numbers = bound_cpu_numbers();
    } else {
        const hwloc_const_cpuset_t all = hwloc_topology_get_allowed_cpuset(topology.get());
        for (int cpu = hwloc_bitmap_first(all); cpu >= 0; cpu = hwloc_bitmap_next(all, cpu))
            numbers.push_back(cpu);
    }
    if (numbers.empty()) numbers.push_back(0);
    return numbers;
}

// A CPU may have several local nodes (fast memory beside ordinary memory). On this machine, the
// result of the kernel is used, because first touch uses the same node. On a machine that was
// described to hwloc, the node with the fewest CPUs is used; among several such nodes, the first
// one in hwloc's order.
NodeId node_of(const LoadedTopology& topology, int cpu) {
    if (is_this_machine(topology)) {
        const int node = numa_available() >= 0 ? numa_node_of_cpu(cpu) : 0;
        return NodeId{std::max(node, 0)};
    }
    hwloc_obj_t best = nullptr;
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(
                                          topology.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
        if (hwloc_bitmap_isset(node->cpuset, static_cast<unsigned>(cpu)) == 0) continue;
        if (best == nullptr ||
            hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset))
            best = node;
    }
    return NodeId{best != nullptr ? static_cast<int>(best->os_index) : 0};
}

int core_of(const LoadedTopology& topology, int cpu) {
    if (topology == nullptr) return cpu;
    hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(topology.get(), static_cast<unsigned>(cpu));
    if (unit == nullptr) return cpu;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology.get(), HWLOC_OBJ_CORE, unit);
    return core != nullptr ? static_cast<int>(core->logical_index) : cpu;
}

void read_nodes(const LoadedTopology& topology, Machine& machine) {
    for (hwloc_obj_t node = nullptr;
         topology != nullptr && (node = hwloc_get_next_obj_by_type(
                                     topology.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
        if (node->attr->numanode.local_memory == 0) continue;
        char type[64] = "";
        hwloc_obj_type_snprintf(type, sizeof type, node, 1);
        machine.nodes.push_back({NodeId{static_cast<int>(node->os_index)},
                                 node->attr->numanode.local_memory,
                                 type + (" L#" + std::to_string(node->logical_index)) + " P#" +
                                     std::to_string(node->os_index)});
    }
    std::sort(machine.nodes.begin(), machine.nodes.end(),
              [](const Machine::Node& a, const Machine::Node& b) { return a.id < b.id; });
    if (machine.nodes.empty()) machine.nodes.push_back({});
}

void read_distances(const LoadedTopology& topology, Machine& machine) {
    hwloc_distances_s* matrix = nullptr;
    unsigned count = 1;
    if (topology == nullptr ||
        hwloc_distances_get_by_type(topology.get(), HWLOC_OBJ_NUMANODE, &count, &matrix,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        count == 0)
        return;
    for (unsigned i = 0; i < matrix->nbobjs; ++i)
        machine.distance_nodes.push_back(NodeId{static_cast<int>(matrix->objs[i]->os_index)});
    machine.distances.assign(matrix->values,
                             matrix->values + std::size_t{matrix->nbobjs} * matrix->nbobjs);
    hwloc_distances_release(topology.get(), matrix);
}

void read_bandwidths(const LoadedTopology& topology, Machine& machine) {
#if HWLOC_API_VERSION >= 0x00020300
    constexpr double megabytes_per_mebibyte = 1.048576;
    if (topology == nullptr) return;
    for (const Machine::Node& cpu : machine.nodes) {
        for (const Machine::Node& memory : machine.nodes) {
            const auto object = [&](const Machine::Node& node) {
                return hwloc_get_numanode_obj_by_os_index(topology.get(),
                                                          static_cast<unsigned>(index(node.id)));
            };
            hwloc_location from{};
            from.type = HWLOC_LOCATION_TYPE_CPUSET;
            from.location.cpuset = object(cpu)->cpuset;
            hwloc_uint64_t mib_s = 0;
            if (hwloc_bitmap_iszero(from.location.cpuset) == 0 &&
                hwloc_memattr_get_value(topology.get(), HWLOC_MEMATTR_ID_BANDWIDTH, object(memory),
                                        &from, 0, &mib_s) == 0 &&
                mib_s > 0)
                machine.bandwidths.push_back(
                    {cpu.id, memory.id, static_cast<double>(mib_s) * megabytes_per_mebibyte});
        }
    }
#endif
}

}  // namespace

int Machine::distance(NodeId from, NodeId to) const noexcept {
    const auto place = [this](NodeId node) {
        return static_cast<std::size_t>(
            std::find(distance_nodes.begin(), distance_nodes.end(), node) - distance_nodes.begin());
    };
    const std::size_t row = place(from), column = place(to), size = distance_nodes.size();
    if (row == size || column == size) return from == to ? 10 : 0;
    return static_cast<int>(distances[row * size + column]);
}

double Machine::bandwidth(NodeId cpu, NodeId memory) const noexcept {
    for (const Bandwidth& one : bandwidths)
        if (one.cpu == cpu && one.memory == memory) return one.mb_s;
    return 0;
}

Machine read_machine() {
    const LoadedTopology topology = load_topology();
    Machine machine;
    machine.is_this = is_this_machine(topology);
    for (const int cpu : cpu_numbers(topology))
        machine.cpus.push_back({cpu, core_of(topology, cpu), node_of(topology, cpu)});
    read_nodes(topology, machine);
    read_distances(topology, machine);
    read_bandwidths(topology, machine);
    return machine;
}

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "unknown";  // kernels for ARM report only numbers
}

}  // namespace nw
