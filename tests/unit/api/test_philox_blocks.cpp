// SPDX-License-Identifier: Apache-2.0
// PhiloxBlocks computes eight blocks of random numbers at once. With each kind of vector
// instructions, these blocks are equal to the blocks that Random computes one by one.
#include <cstdint>

#include <numawarp/random.hpp>

#include "api/math/philox_blocks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;

TEST_CASE("PhiloxBlocks: all vector instructions compute the same blocks as Random") {
    for (const std::uint64_t seed : test::test_seeds(20)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        PhiloxBlocks blocks{};
        const auto bits = [&] { return dice.below(UINT64_MAX) >> dice.below(64); };
        for (std::size_t i = 0; i < PhiloxBlocks::width; ++i) {
            blocks.counter[i] = bits();
            blocks.stream[i] = static_cast<std::uint32_t>(bits());
        }
        const std::uint64_t run_seed = bits();
        REQUIRE_FALSE(philox_vectors().empty());
        for (const PhiloxVectors vectors : philox_vectors()) {
            INFO("vectors " << static_cast<int>(vectors));
            philox_maker(vectors)(blocks, run_seed);
            for (std::size_t i = 0; i < PhiloxBlocks::width; ++i) {
                Random random(run_seed, blocks.stream[i], blocks.counter[i]);
                REQUIRE(blocks.block[i][1] == random.bits());
                REQUIRE(blocks.block[i][0] == random.bits());
            }
        }
    }
}

TEST_CASE("Random: a block from give_block() counts when its first number is drawn") {
    Random alone(3, 4, 5);
    Random given(3, 4, 5);
    given.give_block({8, 7});
    CHECK(given.counter() == 5);
    CHECK(given.bits() == 7);
    CHECK(given.counter() == 6);
    CHECK(given.bits() == 8);
    alone.bits();
    alone.bits();
    CHECK(given.bits() == alone.bits());
    CHECK(given.counter() == 7);
}
