// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/timed/plugin/guest_clock.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;
using namespace nw::timed;

namespace {

constexpr Picoseconds skew = 2'000'000;

// A guest whose vCPUs are executed by the test.
struct Guest {
    explicit Guest(unsigned vcpus, std::chrono::nanoseconds patience = std::chrono::milliseconds(1))
        : used(vcpus),
          clock(vcpus, skew,
                {.real_time = [this] { return real; }, .wake_main = [this] { ++main_wakes; }},
                patience) {
        for (unsigned i = 0; i < vcpus; ++i) clock.attach(i, &used[i]);
        clock.start_model();
    }
    // Gives the vCPU an allowance, and executes for `time`.
    void execute(unsigned vcpu, Picoseconds time) {
        clock.on_allowance_used(vcpu);
        clock.charge(vcpu, time);
    }
    bool has_allowance(unsigned vcpu) {
        clock.on_allowance_used(vcpu);
        return static_cast<std::uint64_t>(used[vcpu]) < GuestClock::allowance_used;
    }

    Picoseconds real = 1'000'000'000;
    int main_wakes = 0;
    std::vector<std::int64_t> used;
    GuestClock clock;
};

}  // namespace

TEST_CASE("GuestClock: devices read the time of the slowest vCPU") {
    Guest guest(2);
    guest.execute(0, 500);
    CHECK(guest.clock.now() == 0);
    guest.execute(1, 300);
    CHECK(guest.clock.now() == 300);
    guest.execute(1, 400);
    CHECK(guest.clock.now() == 500);
}

TEST_CASE(
    "GuestClock: a vCPU that is ahead by the skew gets no allowance until the others follow") {
    Guest guest(2);
    guest.execute(0, skew);
    CHECK_FALSE(guest.has_allowance(0));
    CHECK(guest.clock.statistics(0).overruns == 1);
    guest.execute(1, 1000);
    CHECK(guest.has_allowance(0));
    CHECK(guest.clock.time_of(0) == skew);
    CHECK(guest.clock.time_of(1) == 1000);
}

TEST_CASE("GuestClock: no vCPU passes a timer that the main thread has not served") {
    Guest guest(2);
    guest.clock.main_waits(5000);
    guest.execute(0, 5000 + skew);
    guest.execute(1, 4999);
    CHECK_FALSE(guest.has_allowance(0));
    CHECK(guest.main_wakes == 0);
    guest.execute(1, skew);
    CHECK_FALSE(guest.has_allowance(0));
    CHECK(guest.main_wakes == 1);  // both vCPUs have passed the time of the timer
    guest.clock.main_woke();
    guest.clock.main_waits(never);
    CHECK(guest.has_allowance(0));
}

TEST_CASE("GuestClock: a halted vCPU continues at the time of the vCPU that wakes it") {
    Guest guest(3);
    const int condition = 0, other = 0;
    guest.clock.halt(2, &condition);
    guest.execute(0, 8000);
    guest.execute(1, 6000);
    CHECK(guest.clock.now() == 6000);
    guest.clock.on_signal(&other, 0);
    CHECK(guest.clock.time_of(2) == 0);
    guest.clock.on_signal(&condition, 0);
    CHECK(guest.clock.time_of(2) == 8000);
    guest.execute(1, 100);
    guest.clock.resume(2);  // later in the time of the host: without an effect
    CHECK(guest.clock.time_of(2) == 8000);
}

// With this patience, a test does not end in time if the clock ignores a kick.
constexpr std::chrono::hours never_ending{1};

TEST_CASE("GuestClock: a vCPU that QEMU has kicked executes one more block, and does not wait") {
    Guest guest(2, never_ending);
    const int condition = 0;
    guest.clock.halt(0, &condition);
    CHECK(guest.clock.on_signal(&condition, 1));
    guest.execute(0, skew);
    CHECK_FALSE(guest.clock.on_signal(&condition, 1));  // running: a kick
    CHECK_FALSE(guest.has_allowance(0));
    CHECK(guest.clock.statistics(0).overruns == 1);
}

TEST_CASE("GuestClock: a kick, and the progress of the others, end a wait") {
    Guest guest(2, never_ending);
    const int condition = 0;
    guest.clock.halt(0, &condition);
    guest.clock.on_signal(&condition, 1);
    guest.execute(0, skew);
    std::atomic<bool> is_over{false};
    std::thread kicks([&] {
        // Usually the vCPU waits after this time. If it does not, the case is the one above.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        while (!is_over) {
            guest.clock.on_signal(&condition, 1);
            std::this_thread::yield();
        }
    });
    CHECK_FALSE(guest.has_allowance(0));
    is_over = true;
    kicks.join();

    std::thread progress([&] { guest.execute(1, 1000), guest.execute(1, 1000); });
    while (!guest.has_allowance(0)) {
    }
    progress.join();
    CHECK(guest.clock.time_of(0) == skew);
}

TEST_CASE("GuestClock: the clock of an idle guest stops at a timer that is not served") {
    Guest guest(1);
    const int condition = 0;
    CHECK_FALSE(guest.clock.main_waits(300));
    guest.clock.halt(0, &condition);
    CHECK(guest.main_wakes == 1);  // the main thread must wait by the host's clock from now on
    guest.clock.main_woke();
    CHECK(guest.clock.main_waits(300));
    guest.real += 5000;
    CHECK(guest.clock.now() == 300);
    guest.clock.main_woke();
    CHECK(guest.clock.main_waits(200));
    guest.real += 50;
    CHECK(guest.clock.now() == 350);
    guest.clock.resume(0);
    CHECK(guest.clock.time_of(0) == 350);
}

TEST_CASE("GuestClock: while all vCPUs are halted, the clock follows the host's clock") {
    Guest guest(2);
    const int condition = 0;
    guest.execute(0, 700);
    guest.execute(1, 300);
    guest.clock.halt(1, &condition);
    guest.clock.halt(0, &condition);
    CHECK(guest.clock.now() == 700);
    guest.real += 40;
    CHECK(guest.clock.now() == 740);
    guest.clock.on_signal(&condition, GuestClock::no_vcpu);
    CHECK(guest.clock.time_of(0) == 740);
    guest.real += 1000;
    CHECK(guest.clock.now() == 740);
}

TEST_CASE("GuestClock: vCPUs on threads stay together, and none waits forever") {
    for (const std::uint64_t seed : test::test_seeds(3)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        constexpr unsigned vcpus = 4;
        constexpr Picoseconds end = 200 * skew, block_max = skew / 10;
        Guest guest(vcpus);
        std::vector<Picoseconds> farthest(vcpus);  // ahead, at the end of an allowance
        std::vector<std::thread> threads;
        for (unsigned vcpu = 0; vcpu < vcpus; ++vcpu)
            threads.emplace_back([&, vcpu] {
                test::Dice dice(seed + vcpu);
                std::uint64_t overruns = 0;
                while (guest.clock.time_of(vcpu) < end) {
                    if (static_cast<std::uint64_t>(guest.used[vcpu]) >=
                        GuestClock::allowance_used) {
                        // A vCPU without an allowance has executed one block.
                        const std::uint64_t now_overruns = guest.clock.statistics(vcpu).overruns;
                        if (now_overruns == overruns)
                            farthest[vcpu] = std::max(
                                farthest[vcpu], guest.clock.time_of(vcpu) - guest.clock.now());
                        overruns = now_overruns;
                        guest.clock.on_allowance_used(vcpu);
                    }
                    guest.clock.charge(vcpu, static_cast<Picoseconds>(dice.below(block_max)));
                }
                guest.clock.halt(vcpu, &guest);
            });
        for (std::thread& thread : threads) thread.join();
        for (const Picoseconds ahead : farthest) {
            CHECK(ahead > skew / 2);  // the case has occurred
            CHECK(ahead <= skew + block_max);
        }
    }
}
