// SPDX-License-Identifier: Apache-2.0
// The use of CPUs by other programs, and the turns of runs: on a fake machine, and on this machine.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
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
    for (int cpu = 0; cpu < 3; ++cpu) os.set_idle_ns(cpu, 100 * second);
    OtherPrograms others(os);
    os.set_idle_ns(2, 101 * second);
    const std::map<int, double> first =
        others.end_period(2, {{0, 10 * second}, {1, 20 * second}}, 40 * second);
    CHECK(first == std::map<int, double>{{0, 0}, {1, 0}, {2, 0.5}});
    // CPU 0: two seconds of worker 0. CPU 1: one second of worker 1. CPU 2: busy for one second,
    // perhaps by another thread of the run. CPU 3 was added to the machine.
    os.set_idle_ns(2, 102 * second);
    os.set_idle_ns(3, 1 * second);
    const std::map<int, double> found =
        others.end_period(2, {{0, 12 * second}, {1, 21 * second}}, 43 * second + second / 2);
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

TEST_CASE("linux_os: a CPU on which a thread computes is not idle") {
    const int cpu = linux_os().thread_cpus().front();
    std::thread thread([cpu] {
        if (linux_os().bind_thread(cpu) != 0 || linux_os().idle_ns().count(cpu) == 0) {
            WARN("this machine does not report the idle time of CPUs; not tested");
            return;
        }
        const std::uint64_t before = linux_os().idle_ns().at(cpu);
        timespec now{};
        for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
             std::chrono::steady_clock::now() < end;)
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        // The resolution is 10 ms.
        CHECK(linux_os().idle_ns().at(cpu) - before <= 40'000'000);
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
