// SPDX-License-Identifier: Apache-2.0
// Loans of workers: at each time one thread takes the turns of a worker, and a worker's data pass
// from thread to thread.
#include "engine/carriers.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

namespace nw {
namespace {

using namespace std::chrono_literals;

TEST_CASE("Carriers: a worker's own thread takes the turns until a carrier has taken the worker") {
    Carriers carriers(3);
    CHECK(carriers.is_back(2));
    CHECK(carriers.thread_of(2) == 2);
    CHECK_FALSE(carriers.take(2, 0));  // the worker is not offered

    carriers.offer(2, 0);
    CHECK(carriers.offers(0) == 1);
    CHECK(carriers.thread_of(2) == 0);  // work for the worker wakes the carrier
    CHECK(carriers.is_offered(2));
    CHECK_FALSE(carriers.take(2, 1));  // the worker is offered to another thread
    CHECK(carriers.take(2, 0));
    CHECK_FALSE(carriers.is_offered(2));
    CHECK_FALSE(carriers.await(2, 1ms));

    CHECK_FALSE(carriers.recall(2));
    CHECK(carriers.is_recalled(2));
    CHECK_FALSE(carriers.is_back(2));
    carriers.give_back(2);
    CHECK(carriers.await(2, 1h));
    CHECK(carriers.thread_of(2) == 2);
}

TEST_CASE("Carriers: an offer that was not taken can be withdrawn") {
    Carriers carriers(2);
    carriers.offer(1, 0);
    CHECK(carriers.recall(1));
    CHECK(carriers.is_back(1));
    CHECK_FALSE(carriers.take(1, 0));
    carriers.offer(1, 0);
    CHECK(carriers.take(1, 0));
    CHECK_FALSE(carriers.is_recalled(1));  // the recall() above has no effect on this loan
}

// The worker's own thread offers the worker and withdraws the offer at any moment. Meanwhile, two
// carriers take the worker and give it back. `turns` is a plain integer, so ThreadSanitizer reports
// two threads that take turns at the same time.
TEST_CASE("Carriers: one thread at a time takes the turns") {
    const auto turns_wanted = static_cast<std::uint64_t>(test::effort(20'000));
    Carriers carriers(3);
    std::uint64_t turns = 0;
    std::array<std::uint64_t, 3> taken{};
    std::atomic<bool> is_over{false};
    const auto carry = [&](std::uint32_t self) {
        while (!is_over) {
            if (!carriers.take(2, self)) {
                std::this_thread::yield();
                continue;
            }
            do {
                ++turns;
                ++taken[self];
            } while (!carriers.is_recalled(2) && taken[self] % 64 != 0);
            carriers.give_back(2);
        }
    };
    std::vector<std::jthread> threads;
    for (std::uint32_t self = 0; self < 2; ++self) threads.emplace_back(carry, self);
    for (std::uint32_t loan = 0; turns < turns_wanted; ++loan) {
        ++turns;
        ++taken[2];
        carriers.offer(2, loan % 2);
        if (loan % 3 == 0) carriers.recall(2);
        while (!carriers.await(2, loan % 5 == 0 ? 10us : 1ms)) carriers.recall(2);
    }
    is_over = true;
    threads.clear();
    CHECK(turns == taken[0] + taken[1] + taken[2]);
    CHECK(taken[0] + taken[1] > 0);
}

}  // namespace
}  // namespace nw
