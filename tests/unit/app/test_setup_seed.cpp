// SPDX-License-Identifier: Apache-2.0
// The seed and the random numbers that setup() may use.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <numawarp/model.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/toy_model.hpp"

namespace {

std::vector<std::uint64_t> numbers_of(std::uint64_t seed) {
    nw::test::ToyModel model;
    nw::detail::set_seed(model, seed);
    CHECK(model.seed() == seed);
    std::vector<std::uint64_t> numbers;
    for (int call = 0; call < 2; ++call) {
        nw::Random random = model.random_numbers();
        for (int i = 0; i < 5; ++i) numbers.push_back(random.bits());
    }
    return numbers;
}

}  // namespace

TEST_CASE("setup(): random numbers depend on the seed and are the same in each call") {
    const std::vector<std::uint64_t> first = numbers_of(1);
    CHECK(std::equal(first.begin(), first.begin() + 5, first.begin() + 5));
    CHECK(first == numbers_of(1));
    CHECK(first != numbers_of(2));
}
