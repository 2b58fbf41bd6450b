// A thread that sleeps on a bell is woken, also by another process.
// tests/unit/gvt/test_sleepers.cpp tests threads of one process.
#include "numa/os/bell.hpp"

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
    Bell bells[2];
    std::atomic<std::uint32_t> ball{0};
};

// Passes the ball to the other player whenever it has arrived. Returns whether it always arrived.
bool play(Table& table, std::uint32_t self, std::uint32_t throws) {
    for (std::uint32_t mine = self; mine < throws; mine += 2) {
        const auto is_mine = [&] { return table.ball.load() == mine; };
        while (!is_mine())
            if (!table.bells[self].sleep(std::chrono::seconds(20), is_mine)) return false;
        table.ball.store(mine + 1);
        table.bells[1 - self].ring();
    }
    return true;
}

TEST_CASE("Bell: two processes wake each other and no wake-up is lost") {
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

TEST_CASE("Bell: a thread with work does not sleep and a sleeping thread wakes up in time") {
    Bell bell;
    CHECK(bell.sleep(std::chrono::hours(1), [] { return true; }));
    bell.ring();
    CHECK_FALSE(bell.is_asleep());
    CHECK_FALSE(bell.sleep(std::chrono::milliseconds(1), [] { return false; }));
    // The bell rings after the thread is marked asleep and before it sleeps.
    CHECK(bell.sleep(std::chrono::hours(1), [&] {
        bell.ring();
        return false;
    }));
}

}  // namespace
}  // namespace nw
