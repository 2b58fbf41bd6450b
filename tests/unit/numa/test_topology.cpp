// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <hwloc.h>
#include <unistd.h>

#include "numa/os/machine.hpp"
#include "numa/place/topology.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"

using namespace nw;

namespace {

std::map<NodeId, int> workers_per_node(const std::vector<Place>& places) {
    std::map<NodeId, int> count;
    for (const Place& place : places) ++count[place.node];
    return count;
}

}  // namespace

TEST_CASE("Topology: workers are distributed evenly over nodes and adjacent workers share a node") {
    FakeOs os(4, 8);
    const Topology topology(os);
    CHECK(topology.core_count() == 32);
    CHECK(topology.node_count() == 4);
    for (std::size_t n = 1; n <= 70; ++n) {
        const auto places = topology.place_workers(n);
        REQUIRE(places.size() == n);
        REQUIRE(std::is_sorted(places.begin(), places.end(),
                               [](const Place& a, const Place& b) { return a.node < b.node; }));
        const auto count = workers_per_node(places);
        REQUIRE(count.size() == std::min<std::size_t>(n, 4));
        for (const auto& [node, workers] : count) {
            REQUIRE(workers >= static_cast<int>(n / 4));
            REQUIRE(workers <= static_cast<int>((n + 3) / 4));
        }
        std::map<int, int> per_cpu;
        for (const Place& place : places) {
            ++per_cpu[place.cpu];
            REQUIRE(os.node_of_cpu(place.cpu) == place.node);
        }
        for (const auto& [cpu, workers] : per_cpu)
            REQUIRE(workers <= static_cast<int>((n + 31) / 32));
    }
}

TEST_CASE("Topology: second hardware threads are used after every core has a worker") {
    FakeOs os(2, 4, 2);
    const Topology topology(os);
    CHECK(topology.core_count() == 8);
    CHECK(topology.cpu_count() == 16);
    std::set<int> cores;
    for (const Place& place : topology.place_workers(8)) cores.insert(place.cpu / 2);
    CHECK(cores.size() == 8);
    std::set<int> cpus;
    for (const Place& place : topology.place_workers(16)) cpus.insert(place.cpu);
    CHECK(cpus.size() == 16);
}

TEST_CASE("Topology: only CPUs of the cpuset are used even if the cpuset is unbalanced") {
    FakeOs os(4, 4);
    os.set_allowed_cpus({1, 2, 3, 9});
    const Topology topology(os);
    CHECK(topology.node_count() == 2);
    const auto places = topology.place_workers(4);
    std::set<int> cpus;
    for (const Place& place : places) cpus.insert(place.cpu);
    CHECK(cpus == std::set<int>{1, 2, 3, 9});
    CHECK(workers_per_node(topology.place_workers(2)).size() == 2);
}

TEST_CASE("Topology: a node without CPUs is listed and gets no worker") {
    FakeOs os(2, 2);
    const NodeId far = os.add_memory_only_node(std::uint64_t{64} << 30);
    for (int node : {0, 1}) os.set_distance(NodeId{node}, far, 30);
    const Topology topology(os);
    CHECK(topology.node_count() == 2);
    REQUIRE(topology.nodes().size() == 3);
    const NodeInfo& info = topology.nodes()[2];
    CHECK(info.node == far);
    CHECK(info.cpus.empty());
    CHECK(info.cores == 0);
    CHECK(info.total_bytes == std::uint64_t{64} << 30);
    CHECK(info.distances == std::vector<int>{20, 20, 10});
    CHECK(topology.nodes()[0].distances == std::vector<int>{10, 20, 30});
    CHECK_FALSE(workers_per_node(topology.place_workers(9)).contains(far));
}

TEST_CASE("Topology: workers on a node without memory belong to the nearest node with memory") {
    FakeOs os(4, 2);
    os.take_memory_away(NodeId{1});
    os.set_distance(NodeId{1}, NodeId{0}, 30);
    os.set_distance(NodeId{1}, NodeId{2}, 25);
    os.set_distance(NodeId{1}, NodeId{3}, 15);
    const Topology topology(os);
    CHECK(topology.node_count() == 3);
    REQUIRE(topology.nodes().size() == 4);
    CHECK(topology.nodes()[1].total_bytes == 0);
    CHECK(topology.nodes()[1].cpus == std::vector<int>{2, 3});
    const auto places = topology.place_workers(8);
    CHECK(workers_per_node(places) ==
          std::map<NodeId, int>{{NodeId{0}, 2}, {NodeId{2}, 2}, {NodeId{3}, 4}});
    CHECK(nodes_spanned(places) == 3);
    CHECK(nodes_spanned(topology.place_workers(1)) == 1);
}

namespace {

// While the object exists, an environment variable describes another machine to hwloc.
struct PretendedMachine {
    PretendedMachine(const char* variable, const std::string& value) : variable_(variable) {
        setenv(variable, value.c_str(), 1);
    }
    ~PretendedMachine() { unsetenv(variable_); }
    PretendedMachine(const PretendedMachine&) = delete;
    const char* variable_;
};

}  // namespace

TEST_CASE("Machine: nodes and cores and hardware threads equal the description of hwloc") {
    const PretendedMachine pretended("HWLOC_SYNTHETIC",
                                     "numa:4(memory=8GB) core:3 pu:2(indexes=core:pu)");
    const Machine machine = read_machine();
    REQUIRE(machine.nodes.size() == 4);
    CHECK(machine.nodes[3].id == NodeId{3});
    CHECK(machine.nodes[3].total_bytes > std::uint64_t{7} << 30);
    REQUIRE(machine.cpus.size() == 24);
    std::map<int, int> cpus_of_core;
    std::map<NodeId, int> cpus_of_node;
    for (const Cpu& cpu : machine.cpus) {
        ++cpus_of_core[cpu.core];
        ++cpus_of_node[cpu.node];
    }
    CHECK(cpus_of_core.size() == 12);
    for (const auto& [core, cpus] : cpus_of_core) CHECK(cpus == 2);
    for (const auto& [node, cpus] : cpus_of_node) CHECK(cpus == 6);
    CHECK(machine.distance(NodeId{2}, NodeId{2}) == 10);
    CHECK(machine.distance(NodeId{2}, NodeId{3}) == 0);  // the description has no distances
}

TEST_CASE("Machine: distances equal the distances in the description and may be asymmetric") {
    constexpr unsigned nodes = 3;
    hwloc_uint64_t values[nodes][nodes] = {{10, 21, 31}, {22, 10, 41}, {32, 42, 10}};
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("numawarp-machine-" + std::to_string(getpid()));
    hwloc_topology_t topology = nullptr;
    REQUIRE(hwloc_topology_init(&topology) == 0);
    REQUIRE(hwloc_topology_set_synthetic(topology, "numa:3(memory=1GB) core:1 pu:1") == 0);
    REQUIRE(hwloc_topology_load(topology) == 0);
    hwloc_obj_t objects[nodes];
    for (unsigned i = 0; i < nodes; ++i)
        objects[i] = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i);
    const auto matrix = hwloc_distances_add_create(
        topology, nullptr, HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
    REQUIRE(hwloc_distances_add_values(topology, matrix, nodes, objects, values[0], 0) == 0);
    REQUIRE(hwloc_distances_add_commit(topology, matrix, 0) == 0);
    REQUIRE(hwloc_topology_export_xml(topology, file.c_str(), 0) == 0);
    hwloc_topology_destroy(topology);

    const PretendedMachine pretended("HWLOC_XMLFILE", file);
    const Machine machine = read_machine();
    std::filesystem::remove(file);
    REQUIRE(machine.nodes.size() == nodes);
    for (unsigned from = 0; from < nodes; ++from)
        for (unsigned to = 0; to < nodes; ++to)
            CHECK(machine.distance(NodeId{static_cast<int>(from)}, NodeId{static_cast<int>(to)}) ==
                  static_cast<int>(values[from][to]));
    CHECK(machine.distance(NodeId{0}, NodeId{7}) == 0);
}

TEST_CASE("Machine: a CPU belongs to its smallest node and other nodes have no CPUs") {
    // The first node belongs to both packages. No CPU belongs to this node.
    const PretendedMachine pretended(
        "HWLOC_SYNTHETIC", "[numa(memory=64GB)] package:2 [numa(memory=8GB)] core:2 pu:1");
    const Machine machine = read_machine();
    CHECK(machine.nodes.size() == 3);
    std::map<NodeId, int> cpus_of_node;
    for (const Cpu& cpu : machine.cpus) ++cpus_of_node[cpu.node];
    CHECK(cpus_of_node.size() == 2);
}

TEST_CASE(
    "Topology: a worker that lost its CPU moves to the least used CPU, preferably on its node") {
    constexpr NodeId n0{0}, n1{1};
    FakeOs os(2, 3);
    const std::vector<Place> before = Topology(os).place_workers(5);
    CHECK(before == std::vector<Place>{{0, n0}, {1, n0}, {2, n0}, {3, n1}, {4, n1}});
    CHECK(Topology(os).place_again(before) == before);
    os.set_allowed_cpus({0, 1, 3, 5});
    CHECK(Topology(os).place_again(before) ==
          std::vector<Place>{{0, n0}, {1, n0}, {5, n1}, {3, n1}, {3, n1}});
    os.set_allowed_cpus({0, 1, 2});
    CHECK(Topology(os).place_again(before) ==
          std::vector<Place>{{0, n0}, {1, n0}, {2, n0}, {0, n0}, {1, n0}});
}

TEST_CASE("Topology: returned CPUs are used again with as few moves as possible") {
    constexpr NodeId n0{0}, n1{1};
    FakeOs os(2, 2);
    const std::vector<Place> before = Topology(os).place_workers(4);
    os.set_allowed_cpus({0});
    const std::vector<Place> crowded = Topology(os).place_again(before);
    CHECK(crowded == std::vector<Place>(4, {0, n0}));
    os.set_allowed_cpus({0, 1, 2, 3});
    CHECK(Topology(os).place_again(crowded) == before);
    os.set_allowed_cpus({0, 3});
    CHECK(Topology(os).place_again(crowded) ==
          std::vector<Place>{{0, n0}, {3, n1}, {3, n1}, {0, n0}});
    // Three workers on two CPUs cannot be distributed more evenly.
    const std::vector<Place> uneven{{0, n0}, {0, n0}, {3, n1}};
    CHECK(Topology(os).place_again(uneven) == uneven);
}

TEST_CASE("Machine: an invalid description is replaced by the real machine") {
    const PretendedMachine pretended("HWLOC_XMLFILE", "/nonexistent/machine.xml");
    const Machine machine = read_machine();
    CHECK_FALSE(machine.cpus.empty());
    CHECK_FALSE(machine.nodes.empty());
}

TEST_CASE("Linux: there is at least one CPU and one node and some free memory") {
    Os& os = linux_os();
    const Topology topology(os);
    CHECK(topology.core_count() >= 1);
    const auto places = topology.place_workers(3);
    CHECK(places.size() == 3);
    CHECK(os.node_count() >= 1);
    CHECK(os.free_bytes(os.nodes()[0]) > 0);
    const MemoryFigures figures = os.memory();
    CHECK(figures.available > 0);
    CHECK(figures.resident > 0);
    CHECK(figures.resident_peak >= figures.resident);
    CHECK(os.bind_thread(-1) == EINVAL);
}
