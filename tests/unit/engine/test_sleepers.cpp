// SPDX-License-Identifier: Apache-2.0
// A worker that sleeps is woken, whether the wake-up or the sleep comes first.
#include "engine/sleepers.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

namespace nw {
namespace {

constexpr std::chrono::milliseconds for_ever = std::chrono::hours(1);

TEST_CASE("Sleepers: a worker with work does not sleep") {
    Sleepers sleepers(2, nullptr, for_ever);
    int asked = 0;
    CHECK(sleepers.sleep(1, time_infinity, [&] { return ++asked == 1; }));
    CHECK(asked == 1);
}

TEST_CASE(
    "Sleepers: waking an awake worker has no later effect and a sleeping worker wakes up in time") {
    Sleepers sleepers(1, nullptr, std::chrono::milliseconds(1));
    sleepers.wake(0);
    sleepers.wake_all();
    CHECK_FALSE(sleepers.sleep(0, time_infinity, [] { return false; }));
}

TEST_CASE("Sleepers: mail beyond the horizon does not wake a worker") {
    for (const double time : {1.0, 2.0}) {
        Sleepers sleepers(1, nullptr, std::chrono::milliseconds(time < 2 ? 20'000 : 50));
        std::atomic<bool> is_going_to_sleep{false};
        std::jthread sender([&] {
            while (!is_going_to_sleep) std::this_thread::yield();
            for (int i = 0; i < 100; ++i) {
                sleepers.wake_for(0, time);
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
        });
        const bool is_called = sleepers.sleep(0, 2.0, [&] {
            is_going_to_sleep = true;
            return false;
        });
        CHECK(is_called == (time < 2));
    }
}

// Two threads wake each other in turn.
TEST_CASE("Sleepers: no wake-up is lost") {
    constexpr std::uint32_t players = 2;
    const auto throws = static_cast<std::uint32_t>(test::effort(20'000));
    Sleepers sleepers(players, nullptr, std::chrono::seconds(20));
    std::atomic<std::uint32_t> ball{0};
    std::atomic<bool> is_lost{false};
    const auto play = [&](std::uint32_t self) {
        for (std::uint32_t mine = self; mine < throws && !is_lost; mine += players) {
            const auto is_mine = [&] { return ball.load() == mine; };
            while (!is_mine() && !is_lost)
                if (!sleepers.sleep(self, time_infinity, is_mine)) is_lost = true;
            ball.store(mine + 1);
            sleepers.wake((self + 1) % players);
        }
    };
    {
        std::jthread other(play, 1);
        play(0);
    }
    CHECK_FALSE(is_lost);
    CHECK(ball.load() == throws);
}

}  // namespace
}  // namespace nw
