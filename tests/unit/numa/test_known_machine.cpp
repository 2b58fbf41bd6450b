// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <numawarp/model.hpp>

#include "numa/measure/known_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/numa/few_threads.hpp"
#include "util/check.hpp"

using namespace nw;
using nw::test::TemporaryFolder;

namespace {

constexpr MeasureEffort small{.buffer_bytes = 1 << 20, .seconds = 0.001, .hops = 1000};

// A program touches some pages without a call of touch(). They are on the first node.
struct PagesOs : FakeOs {
    using FakeOs::FakeOs;
    Status move_pages(std::span<void* const> pages, NodeId target,
                      std::span<int> statuses) noexcept override {
        for (void* const page : pages) touch(page, NodeId{0});
        return FakeOs::move_pages(pages, target, statuses);
    }
};

Machine as_machine(FakeOs& os) {
    Machine machine;
    machine.cpus = os.allowed_cpus();
    for (const NodeId node : os.nodes())
        machine.nodes.push_back(
            {node, os.total_bytes(node), "fake " + std::to_string(index(node))});
    return machine;
}

// A separate cache folder for the duration of a test.
class CacheFolder {
  public:
    CacheFolder() { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
    ~CacheFolder() { ::unsetenv("XDG_CACHE_HOME"); }
    void keep(const std::string& content) {
        const std::string file = cached_machine_file();
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << content;
    }

  private:
    TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("measure_machine: every pair of nodes has a bandwidth and a latency") {
    PagesOs os(3, 2);
    const MeasuredMachine measured = measure_machine(os, small);
    REQUIRE(measured.nodes == std::vector{NodeId{0}, NodeId{1}, NodeId{2}});
    for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t m = 0; m < 3; ++m) {
            CHECK(measured.bandwidth[c][m] > 0);
            CHECK(measured.bandwidth_busy[c][m] > 0);
            CHECK(measured.latency_ns[c][m] > 0);
        }
    }
    CHECK(os.reserved_ranges() == 0);
}

TEST_CASE("measure_machine: each buffer is on its node and each core of the node reads") {
    PagesOs os(2, 2, 2);
    measure_machine(os, small);
    std::set<int> cpus;
    std::set<std::pair<int, Status>> moves;
    for (const FakeOs::Record& record : os.records()) {
        if (record.call == FakeOs::Call::bind_thread) cpus.insert(record.argument);
        if (record.call == FakeOs::Call::move_pages) moves.insert({record.argument, record.status});
    }
    CHECK(cpus == std::set<int>{0, 2, 4, 6});
    CHECK(moves == std::set<std::pair<int, Status>>{{0, 0}, {1, 0}});
}

TEST_CASE(
    "measure_machine: the bandwidth of a node without CPUs is measured from the other nodes") {
    PagesOs os(2, 1);
    const NodeId far = os.add_memory_only_node(std::uint64_t{1} << 30);
    const MeasuredMachine measured = measure_machine(os, small);
    REQUIRE(measured.nodes.back() == far);
    CHECK(measured.bandwidth[2][0] == measured.bandwidth[0][2]);
    CHECK(measured.bandwidth[2][1] == measured.bandwidth[1][2]);
    CHECK(measured.bandwidth[2][2] == 0);
}

TEST_CASE("measure_machine: a node may have more cores than its buffer has lines") {
    PagesOs os(1, 70);
    const MeasuredMachine measured =
        measure_machine(os, {.buffer_bytes = 64 * 64, .seconds = 0.001, .hops = 1000});
    CHECK(measured.bandwidth[0][0] > 0);
}

TEST_CASE("measure_machine: missing permission to bind threads or to move pages is an error") {
    const auto why = [](FakeOs::Call call) {
        PagesOs os(2, 1);
        os.fail_next(call, EPERM, 1000);
        try {
            measure_machine(os, small);
        } catch (const MachineError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(why(FakeOs::Call::bind_thread) ==
          "nodes cannot be measured: threads cannot be bound: Operation not permitted");
    CHECK(why(FakeOs::Call::move_pages) ==
          "node 0 cannot be measured: pages could not be moved: Operation not permitted");
    FakeOs alone(1, 1);
    alone.fail_next(FakeOs::Call::bind_thread, EPERM, 1000);
    alone.fail_next(FakeOs::Call::move_pages, EPERM, 1000);
    CHECK(measure_machine(alone, small).nodes.size() == 1);
}

TEST_CASE(
    "measure_machine: a thread that cannot be started is an error with a message of one line") {
    if (nw::test::sanitized) return;  // the threads of a sanitizer need more addresses
    PagesOs os(1, 4);
    const nw::test::FewThreads few(GENERATE(0, 2));
    try {
        measure_machine(os, small);
        FAIL("no error with too few threads");
    } catch (const MachineError& error) {
        CHECK(std::string(error.what())
                  .starts_with("nodes cannot be measured: a thread cannot be started: "));
    }
}

TEST_CASE("known_machine: a saved measurement is used for all or some of its nodes") {
    CacheFolder cache;
    PagesOs os(3, 1);
    const MeasuredMachine measured = measure_machine(os, small);
    const std::string content = describe_measure(measured, as_machine(os));
    CHECK(content.find(R"("name": "fake 2")") != std::string::npos);
    cache.keep(content);
    const KnownMachine all = known_machine(os, "");
    CHECK(all.source.starts_with("measured on "));
    REQUIRE(all.bandwidth.nodes() == 3);
    CHECK(all.bandwidth.at(1, 2) == Approx(measured.bandwidth[1][2]).margin(0.1));
    os.take_memory_away(NodeId{1});
    const KnownMachine some = known_machine(os, "");
    REQUIRE(some.bandwidth.nodes() == 2);
    CHECK(some.bandwidth.at(0, 1) == Approx(measured.bandwidth[0][2]).margin(0.1));
}

TEST_CASE("known_machine: a measurement of another machine or a damaged file is ignored") {
    CacheFolder cache;
    PagesOs os(2, 1);
    std::string content = describe_measure(measure_machine(os, small), as_machine(os));
    FakeOs larger(3, 1);
    cache.keep(content);
    CHECK(known_machine(larger, "").source == "distances between nodes");
    content.replace(content.find("\"cpu\": \"") + 8, 0, "another ");
    cache.keep(content);
    CHECK(known_machine(os, "").source == "distances between nodes");
    cache.keep("{");
    CHECK(known_machine(os, "").source == "distances between nodes");
}

TEST_CASE(
    "known_machine: without a measurement firmware values are used and distances for the rest") {
    const CacheFolder nothing_there;
    PagesOs os(2, 1);
    os.set_distance(NodeId{0}, NodeId{1}, 40);
    const KnownMachine by_distance = known_machine(os, "");
    CHECK(by_distance.source == "distances between nodes");
    CHECK(by_distance.bandwidth.at(0, 0) == 4 * by_distance.bandwidth.at(0, 1));
    CHECK(by_distance.bandwidth.at(0, 0) == 2 * by_distance.bandwidth.at(1, 0));
    os.set_firmware_bandwidth(NodeId{0}, NodeId{0}, 800);
    os.set_firmware_bandwidth(NodeId{1}, NodeId{1}, 600);
    const KnownMachine mixed = known_machine(os, "");
    CHECK(mixed.source == "firmware (HMAT), and distances between nodes");
    CHECK(mixed.bandwidth.at(0, 0) == 800);
    CHECK(mixed.bandwidth.at(0, 1) == 150);
    CHECK(mixed.bandwidth.at(1, 0) == 400);
    os.set_firmware_bandwidth(NodeId{0}, NodeId{1}, 100);
    os.set_firmware_bandwidth(NodeId{1}, NodeId{0}, 200);
    const KnownMachine whole = known_machine(os, "");
    CHECK(whole.source == "firmware (HMAT)");
    CHECK(whole.bandwidth.at(1, 0) == 200);
}

TEST_CASE(
    "known_machine: a file from the user has priority and must have the same number of nodes") {
    const TemporaryFolder folder;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << R"({"bw": [[0, 7], [5, 0]]})";
    PagesOs os(2, 1);
    const KnownMachine known = known_machine(os, file);
    CHECK(known.source == file);
    CHECK(known.bandwidth.at(0, 1) == 7);
    FakeOs larger(3, 1);
    try {
        known_machine(larger, file);
        FAIL("the file of another machine was accepted");
    } catch (const SetupError& error) {
        CHECK(std::string(error.what()) ==
              "--machine " + file +
                  ": a machine of 2 nodes; allowed: a machine of 3 nodes, like this one");
    }
}

TEST_CASE("known_machine: too many nodes are refused with the option that needs them") {
    const CacheFolder nothing_there;
    FakeOs sixteen(16, 1);
    CHECK(known_machine(sixteen, "").nodes.size() == 16);
    FakeOs os(17, 1);
    try {
        known_machine(os, "");
        FAIL("17 nodes were accepted");
    } catch (const SetupError& error) {
        CHECK(std::string(error.what()) ==
              "--place weighted, asymsched and auto: this machine has 17 nodes with memory, but "
              "these modes support at most 16; allowed here: --place local or interleave");
    }
}
