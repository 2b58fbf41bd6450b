// SPDX-License-Identifier: Apache-2.0
// A thread with work wakes up, whether the wake-up comes before the sleep or during the sleep. Work
// for a borrowed worker wakes the thread that has borrowed the worker.
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
    const Carriers carriers(2);
    Sleepers sleepers(carriers, nullptr, for_ever);
    int asked = 0;
    CHECK(sleepers.sleep(1, [&] { return ++asked == 1; }));
    CHECK(asked == 1);
}

TEST_CASE(
    "Sleepers: a wake-up of an awake worker has no later effect, and a sleep ends at its time "
    "limit") {
    const Carriers carriers(1);
    Sleepers sleepers(carriers, nullptr, std::chrono::milliseconds(1));
    sleepers.wake(0);
    sleepers.wake_all();
    CHECK_FALSE(sleepers.sleep(0, [] { return false; }));
}

TEST_CASE("Sleepers: mail beyond the horizon does not wake a worker") {
    for (const double time : {1.0, 2.0}) {
        const Carriers carriers(1);
        Sleepers sleepers(carriers, nullptr, std::chrono::milliseconds(time < 2 ? 20'000 : 50));
        sleepers.set_horizon(0, 2.0);
        std::atomic<bool> is_going_to_sleep{false};
        std::jthread sender([&] {
            while (!is_going_to_sleep) std::this_thread::yield();
            for (int i = 0; i < 100; ++i) {
                sleepers.wake_for(0, time);
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
        });
        const bool is_called = sleepers.sleep(0, [&] {
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
    const Carriers carriers(players);
    Sleepers sleepers(carriers, nullptr, std::chrono::seconds(20));
    std::atomic<std::uint32_t> ball{0};
    std::atomic<bool> is_lost{false};
    const auto play = [&](std::uint32_t self) {
        for (std::uint32_t mine = self; mine < throws && !is_lost; mine += players) {
            const auto is_mine = [&] { return ball.load() == mine; };
            while (!is_mine() && !is_lost)
                if (!sleepers.sleep(self, is_mine)) is_lost = true;
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

TEST_CASE("Sleepers: work for a worker wakes the thread that takes the turns of this worker") {
    const bool has_time = GENERATE(false, true);
    Carriers carriers(3);
    Sleepers sleepers(carriers, nullptr, std::chrono::seconds(20));
    carriers.offer(2, 1);
    REQUIRE(carriers.take(2, 1));
    sleepers.set_horizon(2, 3.0);
    std::atomic<bool> is_going_to_sleep{false};
    std::jthread sender([&] {
        while (!is_going_to_sleep) std::this_thread::yield();
        for (int i = 0; i < 100; ++i) {
            if (has_time)
                sleepers.wake_for(2, 2.0);
            else
                sleepers.wake(2);
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    });
    CHECK(sleepers.sleep(1, [&] {
        is_going_to_sleep = true;
        return false;
    }));
}

}  // namespace
}  // namespace nw
