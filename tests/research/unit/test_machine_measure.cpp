// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <set>
#include <string>

#include "jobs/research/placement/measure.hpp"
#include "numa/measure/known_machine.hpp"
#include "tests/support/cache_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/unit/numa/few_threads.hpp"
#include "util/check.hpp"

using namespace nw;

namespace {

constexpr MeasureEffort small{.buffer_bytes = 1 << 20, .seconds = 0.001, .hops = 1000};

// In a FakeOs, a page is on no node before touch() is called, and measure_machine() does not call
// touch(). Therefore move_pages() of this class first puts each page on the first node.
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

TEST_CASE("measure_machine: each buffer is moved to its node, and every core reads") {
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

TEST_CASE("measure_machine: if a thread cannot be started, the message of the error has one line") {
    // FewThreads limits the addresses of the process, and a sanitizer needs more addresses.
    if (nw::test::sanitized) return;
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

TEST_CASE("describe_measure: known_machine() reads the same bandwidths, and the nodes have names") {
    const nw::test::CacheFolder cache;
    PagesOs os(3, 1);
    const MeasuredMachine measured = measure_machine(os, small);
    const std::string content = describe_measure(measured, as_machine(os));
    CHECK(content.find(R"("name": "fake 2")") != std::string::npos);
    cache.keep(content);
    const KnownMachine known = known_machine(os, "");
    CHECK(known.source.starts_with("measured on "));
    REQUIRE(known.bandwidth.nodes() == 3);
    CHECK(known.bandwidth.at(1, 2) == Approx(measured.bandwidth[1][2]).margin(0.1));
}
