// SPDX-License-Identifier: Apache-2.0
// The placement watch on a fake machine: when there is a watch, what it measures, and what it
// reports.
#include <cerrno>
#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "engine/timewarp/placement_watch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/numa/fake_groups.hpp"

using namespace nw;

namespace {

constexpr NodeId n0{0}, n1{1};

// Two groups whose homes are on two nodes.
struct WatchedMachine {
    FakeOs os{2, 2};
    test::FakeGroups groups{os, 2};
    Topology topology{os};
    Config config;
    LiveProgress progress;
    CpuAssignments assignments{{n0, n1}};
    std::vector<std::string> notices;
    NumaReport report;
    HostPlacement unshared;

    WatchedMachine() {
        groups[0].set_home(n0);
        groups[1].set_home(n1);
        groups.add_segment(0, 30, n0, 30, SegmentKind::state);
        groups.add_segment(1, 10, n0, 10);
    }

    // Calls `during` between begin() and last_sample().
    template <class During>
    void watch(std::size_t workers, During during) {
        watch_workers({topology.place_workers(workers), true, true}, during);
    }
    template <class During>
    void watch_workers(const WorkerPlaces& where, During during) {
        PlacementWatch watch(groups.source(), config, where, unshared, progress, topology.nodes(),
                             notices);
        watch.begin(groups.all(), assignments);
        during();
        watch.last_sample();
        watch.finish(report, notices);
    }
    void watch(std::size_t workers) {
        watch(workers, [] {});
    }
    // Sets the CPUs that the process may use. Returns when the workers have got new orders.
    void change_cpus(std::vector<int> cpus) {
        const std::uint32_t before = assignments.orders();
        os.set_allowed_cpus(std::move(cpus));
        for (int i = 0; i < 3000 && assignments.orders() == before; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        CHECK(assignments.orders() == before + 1);
    }
};

}  // namespace

TEST_CASE("PlacementWatch: the last sample reports remote pages by kind") {
    WatchedMachine machine;
    machine.watch(2);
    REQUIRE(machine.report.placement.has_value());
    CHECK(machine.report.placement->remote_share() == 0.25);
    CHECK(machine.report.placement->of(PageKind::platform).remote_share() == 1);
    CHECK(machine.report.pages_shared == 0);
    CHECK(machine.report.pagemigd.threads == 1);
    CHECK(machine.notices.empty());
}

TEST_CASE("PlacementWatch: workers on one of several nodes are watched without a daemon") {
    WatchedMachine machine;
    machine.watch(1);
    REQUIRE(machine.report.placement.has_value());
    CHECK(machine.report.placement->remote_share() == 0.25);
    CHECK(machine.report.pagemigd.threads == 0);
}

TEST_CASE("PlacementWatch: a machine with one node is not watched") {
    FakeOs os{1, 2};
    const Topology topology{os};
    LiveProgress progress;
    std::vector<std::string> notices;
    NumaReport report;
    const WorkerPlaces where{topology.place_workers(2), true, true};
    MemorySource memory(os, MemoryMode::numa, 1);
    CpuAssignments assignments({n0, n0});
    HostPlacement unshared;
    PlacementWatch watch(memory, Config{}, where, unshared, progress, topology.nodes(), notices);
    watch.begin({}, assignments);
    CHECK_FALSE(progress.placement_watched);
    watch.last_sample();
    watch.finish(report, notices);
    CHECK_FALSE(report.placement.has_value());
    CHECK_FALSE(report.pages_shared.has_value());
    CHECK(report.history.empty());
    CHECK(report.pagemigd.threads == 0);
    CHECK(os.count(FakeOs::Call::query_pages) == 0);
}

TEST_CASE("PlacementWatch: a requested daemon is started even on one node") {
    WatchedMachine machine;
    machine.config.pagemigd = {false, 3, 0.5};
    machine.watch(1);
    CHECK(machine.report.pagemigd.threads == 3);
    CHECK(machine.report.pagemigd.period_seconds == 0.5);
    CHECK(machine.report.placement.has_value());
}

TEST_CASE("PlacementWatch: with --memory libc placement is measured without a daemon") {
    WatchedMachine machine;
    machine.config.memory = MemoryMode::libc;
    machine.watch(2);
    CHECK(machine.report.pagemigd.threads == 0);
    CHECK(machine.report.placement.has_value());
    machine.config.pagemigd = {false, 2, 1};
    machine.watch(2);
    CHECK(machine.report.pagemigd.threads == 0);
    CHECK(machine.notices.empty());
}

TEST_CASE("PlacementWatch: a placement request during the run returns one line by kind and node") {
    WatchedMachine machine;
    machine.config.pagemigd = {false, 0, 1};
    std::promise<std::string> said;
    machine.progress.warn = [&](const std::string& line) { said.set_value(line); };
    machine.watch(2, [&] {
        REQUIRE(machine.progress.placement_watched);
        machine.progress.placement_requests += 1;
        std::future<std::string> line = said.get_future();
        REQUIRE(line.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
        CHECK(line.get() ==
              "placement: 75.0 % local; state 0.0 % remote, 120 KiB on node 0, 0 B on node 1; "
              "engine 100.0 % remote, 40.0 KiB on node 0, 0 B on node 1; mail 0.0 % remote, 0 B on "
              "node 0, 0 B on node 1");
    });
    CHECK_FALSE(machine.progress.placement_watched);
    CHECK_FALSE(machine.report.history.empty());
    CHECK(machine.report.history[0].remote_page_share == 0.25);
}

TEST_CASE(
    "PlacementWatch: a kernel that does not report pages causes one notice with and without a "
    "daemon") {
    for (const bool daemon : {true, false}) {
        WatchedMachine machine;
        if (!daemon) machine.config.pagemigd = {false, 0, 1};
        machine.os.fail_next(FakeOs::Call::query_pages, EPERM, 1'000'000);
        machine.watch(2);
        CHECK_FALSE(machine.report.placement.has_value());
        CHECK(machine.report.history.empty());
        REQUIRE(machine.notices.size() == 1);
        CHECK(machine.notices[0].find(
                  daemon ? "page migration: the kernel does not permit"
                         : "placement is unknown: the kernel does not report") == 0);
    }
}

TEST_CASE(
    "PlacementWatch: orders of the policy reach the assignments and a refusal reaches the user") {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() + "/machine.json")
        << R"({"bw": [[0, 1, 9, 1], [1, 0, 1, 8], [9, 1, 0, 1], [1, 8, 1, 0]]})";
    FakeOs os{4, 1};
    const Topology topology(os);
    Config config;
    config.place = &asymsched_placement;
    config.machine_file = folder.path() + "/machine.json";
    const WorkerPlaces where{topology.place_workers(2), true, true};
    test::FakeGroups groups(os, 2);
    groups[0].set_home(n0);
    groups[1].set_home(n1);
    groups.add_segment(0, 4, n0, 4);
    groups.add_segment(1, 4, n1, 4);
    LiveProgress progress;
    std::promise<std::string> said;
    progress.warn = [&](const std::string& line) { said.set_value(line); };
    CpuAssignments assignments({n0, n1});
    std::vector<std::string> notices;
    HostPlacement unshared;
    PlacementWatch watch(groups.source(), config, where, unshared, progress, topology.nodes(),
                         notices);
    watch.begin(groups.all(), assignments);
    for (int i = 0; i < 3000 && assignments.orders() == 0; ++i) {
        assignments.count_mail(0, {0, 1}, 6400);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    REQUIRE(assignments.orders() == 1);
    CHECK(assignments.ordered(0).cpu == 0);
    CHECK(assignments.ordered(1).cpu == 2);
    CHECK(assignments.node_of(1) == n1);  // until the worker has moved
    assignments.note_binding(0, EPERM);   // the next call cancels this refusal
    assignments.note_binding(0, 0);
    CHECK(assignments.refusal() == 0);
    assignments.note_binding(1, EPERM);
    progress.placement_requests += 1;
    std::future<std::string> line = said.get_future();
    REQUIRE(line.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
    CHECK(line.get().find(", from nodes 0 1 to 0 2") != std::string::npos);
    watch.last_sample();
    NumaReport report;
    watch.finish(report, notices);
    CHECK(report.placed.find("from nodes 0 1 to 0 2") != std::string::npos);
    CHECK(notices == std::vector<std::string>{"workers stay on their CPUs: the kernel refuses to "
                                              "bind them to others (Operation not permitted)"});
}

TEST_CASE(
    "PlacementWatch: a worker leaves a CPU that another program uses, but not its own CPU time") {
    const test::TemporaryFolder folder;
    WatchedMachine machine;
    machine.config.place = &asymsched_placement;
    machine.config.machine_file = folder.path() + "/machine.json";
    std::ofstream(machine.config.machine_file) << R"({"bw": [[0, 1], [1, 0]]})";
    for (int cpu = 0; cpu < 4; ++cpu) machine.os.set_cpu_use(cpu, {1, 1});
    machine.watch(2, [&machine] {
        const WorkerPlaces where{machine.topology.place_workers(2), true, true};
        for (std::uint32_t w = 0; w < 2; ++w)
            machine.assignments.note_moved(w, {where.places[w].cpu, where.places[w].node});
        // Worker 0 waits.
        std::promise<void> started, over;
        std::thread worker_0([&] {
            machine.assignments.set_clock(0, clock_of_this_thread());
            started.set_value();
            over.get_future().wait();
            machine.assignments.remove_clock(0);
        });
        started.get_future().wait();
        machine.assignments.set_clock(1, clock_of_this_thread());
        const auto begun = std::chrono::steady_clock::now();
        while (machine.assignments.orders() == 0 &&
               std::chrono::steady_clock::now() - begun < std::chrono::seconds(60)) {
            // Another program uses CPU 0 all the time. This thread is worker 1 and uses CPU 2.
            const auto ns = static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begun) /
                                                       std::chrono::nanoseconds(1));
            timespec own{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
            const auto own_ns = static_cast<std::uint64_t>(own.tv_sec) * 1'000'000'000 +
                                static_cast<std::uint64_t>(own.tv_nsec);
            machine.os.set_cpu_use(0, {ns, 1});
            for (const int cpu : {1, 3}) machine.os.set_cpu_use(cpu, {1, ns});
            machine.os.set_cpu_use(2, {own_ns, ns - std::min(ns, own_ns)});
        }
        machine.assignments.remove_clock(1);
        over.set_value();
        worker_0.join();
    });
    CHECK(machine.assignments.orders() == 1);
    CHECK(machine.assignments.ordered(0).cpu == 1);
    CHECK(machine.assignments.ordered(1).cpu != 3);
    CHECK(machine.report.placed.find("1 workers shared their CPUs with other programs") !=
          std::string::npos);
}

TEST_CASE(
    "PlacementWatch: workers that lose their CPUs get other CPUs and other workers keep their "
    "CPUs") {
    WatchedMachine machine;
    machine.watch(2, [&machine] {
        machine.change_cpus({0, 1});
        CHECK(machine.assignments.ordered(0).cpu == 0);
        CHECK(machine.assignments.ordered(1).cpu == 1);
        CHECK_FALSE(machine.assignments.crowded());
        machine.change_cpus({3});
        CHECK(machine.assignments.ordered(0).cpu == 3);
        CHECK(machine.assignments.ordered(1).cpu == 3);
        // Only workers of different ranks count. One thread takes the turns of both workers.
        CHECK_FALSE(machine.assignments.crowded());
        machine.change_cpus({0, 1, 2, 3});
        CHECK(machine.assignments.ordered(0).cpu == 0);
        CHECK(machine.assignments.ordered(1).cpu == 2);
        CHECK_FALSE(machine.assignments.crowded());
    });
}

TEST_CASE("PlacementWatch: ranks that share changed CPUs choose different CPUs") {
    for (std::size_t rank = 0; rank < 2; ++rank) {
        WatchedMachine machine;
        const std::vector<Place> all = machine.topology.place_workers(4);
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(2 * rank);
        const WorkerPlaces where{
            .places = {first, first + 2}, .sharers = {0, 1}, .number = rank, .host_places = all};
        machine.watch_workers(where, [&machine, rank] {
            INFO("rank " << rank);
            machine.change_cpus({0, 2, 3});
            CHECK(machine.assignments.ordered(0).cpu == (rank == 0 ? 0 : 2));
            CHECK(machine.assignments.ordered(1).cpu == (rank == 0 ? 0 : 3));
            CHECK_FALSE(machine.assignments.crowded());
            machine.change_cpus({3});
            CHECK(machine.assignments.ordered(0).cpu == 3);
            CHECK(machine.assignments.crowded());
            machine.change_cpus({0, 3});
            CHECK(machine.assignments.ordered(0).cpu == (rank == 0 ? 0 : 3));
            CHECK(machine.assignments.ordered(1).cpu == (rank == 0 ? 0 : 3));
            machine.change_cpus({0, 1, 2, 3});
            CHECK(machine.assignments.ordered(0).cpu == (rank == 0 ? 0 : 2));
            CHECK(machine.assignments.ordered(1).cpu == (rank == 0 ? 1 : 3));
            CHECK_FALSE(machine.assignments.crowded());
        });
    }
}

TEST_CASE("PlacementWatch: ranks on the same CPUs without shared memory do not choose nodes") {
    WatchedMachine machine;
    machine.config.place = &asymsched_placement;
    const std::vector<Place> all = machine.topology.place_workers(4);
    const bool alone = GENERATE(true, false);
    WorkerPlaces where{.places = {all[0], all[2]}};
    if (!alone) {
        where.sharers = {0, 1};
        where.host_places = all;
    }
    machine.watch_workers(where, [] {});
    CHECK(machine.report.placed.empty() == !alone);
}

TEST_CASE("PlacementWatch: --place auto uses the cache misses that the workers' counters report") {
    const nw::test::TemporaryFolder folder;
    WatchedMachine machine;
    machine.config.place = &auto_placement;
    machine.config.machine_file = folder.path() + "/machine.json";
    std::ofstream(machine.config.machine_file) << R"({"bw": [[6000, 1000], [1000, 6000]]})";
    constexpr HardwareCounter misses = HardwareCounter::last_level_misses;
    machine.os.set_reading(misses, {0, 1000, 500});  // the counter ran for half of the time
    machine.assignments.set_miss_counter(0, static_cast<int>(misses));
    machine.assignments.set_miss_counter(1, static_cast<int>(misses));
    machine.watch(1, [&machine] {
        // Each period reads the counters of two workers. The first period yields no value, because
        // there is no earlier reading. The second period is the warm-up, and the next five periods
        // yield the median. Two more periods are a reserve.
        std::uint64_t lines = 0;
        for (int i = 0; i < 3000 && machine.os.count(FakeOs::Call::read_counter) < 2 * 9; ++i) {
            machine.os.set_reading(misses, {lines += 10'000'000, 1000, 500});
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    CHECK(machine.report.placed.starts_with("weighted: misses of the last-level cache read "));
    CHECK(machine.report.placed.find(" of the 6.00 GB/s that the workers' nodes provide") !=
          std::string::npos);
}
