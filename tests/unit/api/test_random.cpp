// SPDX-License-Identifier: Apache-2.0
// Tests an LP's random numbers. The blocks are equal to blocks of Philox4x32-10, the counter is the
// whole state, and the distributions have the mean and the variance that their parameters define.
#include <numawarp/random.hpp>

#include <cmath>
#include <cstdint>

#include <Random123/philox.h>

#include "tests/support/catch.hpp"

namespace {

using nw::Random;

TEST_CASE("Random: block i of stream p is Philox4x32-10 of (i, p) under the seed") {
    const std::uint64_t seed = 0x123456789abcdef0;
    const std::uint64_t counter = 0xfedcba9876543210;
    Random random(seed, 77, counter);
    for (std::uint64_t block = counter; block < counter + 3; ++block) {
        const auto out = r123::Philox4x32()(
            {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 77, 0}},
            {{0x9abcdef0, 0x12345678}});
        CHECK(random.bits() == ((std::uint64_t{out[1]} << 32) | out[0]));
        CHECK(random.counter() == block + 1);
        CHECK(random.bits() == ((std::uint64_t{out[3]} << 32) | out[2]));
        CHECK(random.counter() == block + 1);
    }
}

TEST_CASE("Random: the counter alone restores a stream") {
    Random first(1, 2, 0);
    for (int i = 0; i < 6; ++i) first.bits();
    Random resumed(1, 2, first.counter());
    for (int i = 0; i < 100; ++i) REQUIRE(first.bits() == resumed.bits());
}

struct Moments {
    double mean;
    double variance;
    double smallest;
};

template <class Draw>
Moments moments(Draw draw) {
    Random random(1, 0, 0);
    constexpr int count = 400'000;
    double sum = 0;
    double squares = 0;
    double smallest = 1e300;
    for (int i = 0; i < count; ++i) {
        const double x = draw(random);
        sum += x;
        squares += x * x;
        smallest = std::fmin(smallest, x);
    }
    const double mean = sum / count;
    return {mean, squares / count - mean * mean, smallest};
}

// The bounds are about five standard errors of the estimates.
TEST_CASE("Random: distributions have the requested mean and variance") {
    const Moments uniform = moments([](Random& r) { return r.uniform(); });
    CHECK(uniform.mean == Approx(0.5).margin(0.0025));
    CHECK(uniform.variance == Approx(1.0 / 12).margin(0.0008));

    const Moments exponential = moments([](Random& r) { return r.exponential(3); });
    CHECK(exponential.mean == Approx(3).margin(0.025));
    CHECK(exponential.variance == Approx(9).margin(0.25));
    CHECK(exponential.smallest >= 0);

    const Moments erlang = moments([](Random& r) { return r.erlang(4, 3); });
    CHECK(erlang.mean == Approx(3).margin(0.0125));
    CHECK(erlang.variance == Approx(9.0 / 4).margin(0.04));

    const Moments normal = moments([](Random& r) { return r.normal(10, 2); });
    CHECK(normal.mean == Approx(10).margin(0.016));
    CHECK(normal.variance == Approx(4).margin(0.05));

    const Moments below = moments([](Random& r) { return static_cast<double>(r.below(10)); });
    CHECK(below.mean == Approx(4.5).margin(0.025));
    CHECK(below.variance == Approx(8.25).margin(0.08));
}

}  // namespace
