// SPDX-License-Identifier: Apache-2.0
// The use of CPUs by other programs, and the turns of runs: on a fake machine, and on this machine.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <thread>

#include "numa/place/other_programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"

using namespace nw;

namespace {

constexpr std::uint64_t second = 1'000'000'000;

}  // namespace

TEST_CASE("OtherPrograms: the time of workers and of the run's other threads is subtracted") {
    FakeOs os(1, 4);
    const auto set = [&os](int cpu, std::uint64_t busy, std::uint64_t idle) {
        os.set_cpu_use(cpu, {busy * second, idle * second});
    };
    for (int cpu = 0; cpu < 3; ++cpu) set(cpu, 100, 50);
    OtherPrograms others(os);
    set(0, 102, 50);
    set(1, 102, 50);
    set(2, 101, 51);
    const std::map<int, double> first =
        others.end_period(2, {{0, 10 * second}, {1, 20 * second}}, 10 * second);
    CHECK(first == std::map<int, double>{{0, 0}, {1, 0}, {2, 0.5}});
    set(0, 103, 50);  // The kernel has missed a second. Worker 0 has computed for two seconds.
    set(1, 104, 50);  // one second of worker 1
    set(2, 102, 52);  // perhaps by another thread of the run
    set(3, 1, 1);     // was added to the machine
    const std::map<int, double> found =
        others.end_period(2, {{0, 12 * second}, {1, 21 * second}}, 10 * second + second / 2);
    CHECK(found.size() == 3);
    CHECK(found.at(0) == 0);
    CHECK(found.at(1) == Approx(0.25));
    CHECK(found.at(2) == Approx(0.25));
}

TEST_CASE("OtherPrograms: unknown if the kernel does not report the use of CPUs") {
    FakeOs os(1, 2);
    OtherPrograms others(os);
    CHECK(others.end_period(1, {{0, second}}, second).empty());
}

TEST_CASE("linux_os: a CPU on which a thread computes is busy") {
    const int cpu = linux_os().thread_cpus().front();
    std::thread thread([cpu] {
        if (linux_os().bind_thread(cpu) != 0 || linux_os().cpu_use().count(cpu) == 0) {
            WARN("this machine does not report the use of CPUs; not tested");
            return;
        }
        const CpuUse before = linux_os().cpu_use().at(cpu);
        for (const std::clock_t begun = std::clock(); std::clock() - begun < CLOCKS_PER_SEC / 5;) {
        }
        const CpuUse after = linux_os().cpu_use().at(cpu);
        CHECK(after.busy_ns - before.busy_ns > 4 * (after.idle_ns - before.idle_ns));
    });
    thread.join();
}

TEST_CASE("linux_os: while one process has its turn, another process does not get a turn") {
    // The child is forked before this process has its turn, because a turn is inherited.
    int go[2];
    REQUIRE(::pipe(go) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        char byte = 0;
        const bool read = ::read(go[0], &byte, 1) == 1;
        ::_exit(read ? linux_os().take_turn() : EPIPE);
    }
    const Status first = linux_os().take_turn();
    CHECK(linux_os().take_turn() == first);
    REQUIRE(::write(go[1], "g", 1) == 1);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == EBUSY);
    linux_os().end_turn();
    CHECK((first == 0 || first == EBUSY));  // EBUSY: a run of this machine has its turn
    ::close(go[0]);
    ::close(go[1]);
}
