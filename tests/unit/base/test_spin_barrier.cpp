// All threads of a phase are there before one goes on, whether they sleep or not.
#include <atomic>
#include <thread>
#include <vector>

#include "base/spin_barrier.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

namespace nw::test {
namespace {

TEST_CASE("nobody passes a SpinBarrier before all have come") {
    constexpr std::uint32_t threads = 3;
    const std::uint32_t patience = GENERATE(0u, 10u, 10'000u);
    const auto phases = static_cast<std::uint32_t>(test::effort(5'000));
    SpinBarrier barrier(threads, patience);
    std::vector<std::uint32_t> at(threads);  // plain: the barrier alone orders the accesses
    std::atomic<std::uint32_t> wrong{0};
    const auto play = [&](std::uint32_t self) {
        for (std::uint32_t phase = 1; phase <= phases; ++phase) {
            at[self] = phase;
            barrier.arrive_and_wait();
            for (const std::uint32_t other : at) wrong += other == phase ? 0 : 1;
            barrier.arrive_and_wait();
        }
    };
    {
        std::jthread second(play, 1);
        std::jthread third(play, 2);
        play(0);
    }
    CHECK(wrong == 0);
}

}  // namespace
}  // namespace nw::test
