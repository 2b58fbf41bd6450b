// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "numa/measure/known_machine.hpp"
#include "numa/os/machine.hpp"
#include "numa/place/placement_policy.hpp"
#include "tests/support/cache_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace nw;
using nw::test::CacheFolder;
using nw::test::TemporaryFolder;

namespace {

// A measurement of three nodes of this machine, as in the cache folder. The bandwidth is
// 100 (row + 1) + column.
std::string measurement(const std::string& cpu) {
    return fmt::format(R"({{"source": "measured here", "cpu": "{}", )"
                       R"("nodes": [{{"node": 0}}, {{"node": 1}}, {{"node": 2}}], )"
                       R"("bw": [[100, 101, 102], [200, 201, 202], [300, 301, 302]]}})",
                       cpu);
}

}  // namespace

TEST_CASE("known_machine: a saved measurement is used for all or some of its nodes") {
    const CacheFolder cache;
    FakeOs os(3, 1);
    cache.keep(measurement(cpu_name()));
    const KnownMachine all = known_machine(os, "");
    CHECK(all.source == "measured here");
    REQUIRE(all.bandwidth.nodes() == 3);
    CHECK(all.bandwidth.at(1, 2) == 202);
    os.take_memory_away(NodeId{1});
    const KnownMachine some = known_machine(os, "");
    REQUIRE(some.bandwidth.nodes() == 2);
    CHECK(some.bandwidth.at(0, 1) == 102);
}

TEST_CASE("known_machine: a measurement of another machine or a damaged file is ignored") {
    const CacheFolder cache;
    FakeOs os(3, 1), larger(4, 1);
    cache.keep(measurement(cpu_name()));
    CHECK(known_machine(larger, "").source == "distances between nodes");
    cache.keep(measurement("another " + cpu_name()));
    CHECK(known_machine(os, "").source == "distances between nodes");
    cache.keep("{");
    CHECK(known_machine(os, "").source == "distances between nodes");
}

TEST_CASE(
    "known_machine: without a measurement, firmware values are used, and distances for missing "
    "values") {
    const CacheFolder nothing_there;
    FakeOs os(2, 1);
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
    FakeOs os(2, 1);
    const KnownMachine known = known_machine(os, file);
    CHECK(known.source == file);
    CHECK(known.bandwidth.at(0, 1) == 7);
    FakeOs larger(3, 1);
    try {
        known_machine(larger, file);
        FAIL("the file of another machine was accepted");
    } catch (const SetupError& error) {
        CHECK(std::string(error.what()) ==
              file + ": a machine of 2 nodes; allowed: a machine of 3 nodes, like this one");
    }
}

TEST_CASE("make_chosen_policy: too many nodes are refused with the placements that are allowed") {
    const CacheFolder nothing_there;
    FakeOs sixteen(16, 1);
    CHECK(known_machine(sixteen, "").nodes.size() == 16);
    FakeOs os(17, 1);
    CHECK(make_chosen_policy(local_placement, os, {}) != nullptr);
    try {
        make_chosen_policy(weighted_placement, os, {});
        FAIL("17 nodes were accepted");
    } catch (const SetupError& error) {
        CHECK(std::string(error.what()) ==
              "placement weighted: this machine has 17 nodes with memory, and this placement "
              "supports at most 16; allowed here: local, strict, interleave");
    }
}
