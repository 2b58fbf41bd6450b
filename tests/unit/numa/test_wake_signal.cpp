// SPDX-License-Identifier: Apache-2.0
// A thread that sleeps on a wake signal is woken, also by another process.
// tests/unit/engine/test_sleepers.cpp tests threads of one process.
#include "numa/os/wake_signal.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>

#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

namespace nw {
namespace {

struct Table {
    WakeSignal wake_signals[2];
    std::atomic<std::uint32_t> ball{0};
};

// Passes the ball to the other player whenever the ball has arrived. Returns whether the ball
// always arrived.
bool play(Table& table, std::uint32_t self, std::uint32_t throws) {
    for (std::uint32_t mine = self; mine < throws; mine += 2) {
        const auto is_mine = [&] { return table.ball.load() == mine; };
        while (!is_mine())
            if (!table.wake_signals[self].sleep(std::chrono::seconds(20), is_mine)) return false;
        table.ball.store(mine + 1);
        table.wake_signals[1 - self].raise();
    }
    return true;
}

TEST_CASE("WakeSignal: two processes wake each other and no wake-up is lost") {
    void* const memory =
        mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    Table& table = *new (memory) Table;
    const auto throws = static_cast<std::uint32_t>(test::effort(20'000));
    const pid_t other = fork();
    REQUIRE(other >= 0);
    if (other == 0) _exit(play(table, 1, throws) ? 0 : 1);
    CHECK(play(table, 0, throws));
    int status = -1;
    REQUIRE(waitpid(other, &status, 0) == other);
    CHECK(status == 0);
    CHECK(table.ball.load() == throws);
    munmap(memory, sizeof(Table));
}

TEST_CASE("WakeSignal: a thread with work does not sleep, and a sleep ends at its time limit") {
    WakeSignal wake_signal;
    CHECK(wake_signal.sleep(std::chrono::hours(1), [] { return true; }));
    wake_signal.raise();
    CHECK_FALSE(wake_signal.is_asleep());
    CHECK_FALSE(wake_signal.sleep(std::chrono::milliseconds(1), [] { return false; }));
    // The wake signal is raised after the thread is marked as asleep and before the thread sleeps.
    CHECK(wake_signal.sleep(std::chrono::hours(1), [&] {
        wake_signal.raise();
        return false;
    }));
}

}  // namespace
}  // namespace nw
