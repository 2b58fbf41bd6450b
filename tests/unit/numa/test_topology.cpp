#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "numa/fake_os.hpp"
#include "numa/topology.hpp"
#include "tests/support/catch.hpp"

using namespace nw;

namespace {

std::map<NodeId, int> workers_per_node(const std::vector<Place>& places) {
    std::map<NodeId, int> count;
    for (const Place& place : places) ++count[place.node];
    return count;
}

}  // namespace

TEST_CASE("Topology: workers are spread evenly over nodes, neighbours on one node") {
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

TEST_CASE("Topology: a core's second hardware thread comes after every core has work") {
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

TEST_CASE("Topology: only CPUs of the cpuset are used, however lopsided it is") {
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

TEST_CASE("Linux: there is a CPU, a node, and memory; the thread can be bound where allowed") {
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
