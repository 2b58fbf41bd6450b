// SPDX-License-Identifier: Apache-2.0
// Compares numawarp's own logarithm and cosine with the C library's functions in long double.
#include "api/math/portable_math.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

#include "tests/support/catch.hpp"

namespace {

TEST_CASE("portable log: the relative error is below 2^-51 for arguments near 1 and far from 1") {
    std::mt19937_64 random(1);
    const auto uniform = [&] { return static_cast<double>((random() >> 11) + 1) * 0x1p-53; };
    long double worst = 0;
    const auto compare = [&](double x) {
        const long double exact = std::log(static_cast<long double>(x));
        if (exact != 0) worst = std::max(worst, std::fabs((nw::portable::log(x) - exact) / exact));
    };
    for (int i = 0; i < 200'000; ++i) {
        compare(uniform());
        compare(std::ldexp(uniform(), -i % 1000));
        compare(std::ldexp(1 + uniform(), i % 1000));
        compare(1 - std::ldexp(uniform(), -1 - i % 52));
        compare(1 + std::ldexp(uniform(), -i % 52));
    }
    CHECK(worst < 0x1p-51L);
    CHECK(nw::portable::log(1.0) == 0.0);
}

TEST_CASE("portable cos_turn: the error is below 2^-52 and quarter turns are exact") {
    std::mt19937_64 random(1);
    long double worst = 0;
    for (int i = 0; i < 500'000; ++i) {
        const double turns = static_cast<double>(random() >> 11) * 0x1p-53;
        const long double exact = std::cos(2 * std::numbers::pi_v<long double> * turns);
        worst = std::max(worst, std::fabs(nw::portable::cos_turn(turns) - exact));
    }
    CHECK(worst < 0x1p-52L);
    CHECK(nw::portable::cos_turn(0) == 1);
    CHECK(nw::portable::cos_turn(0.25) == 0);
    CHECK(nw::portable::cos_turn(0.5) == -1);
    CHECK(nw::portable::cos_turn(0.75) == 0);
    CHECK(nw::portable::cos_turn(1) == 1);
}

}  // namespace
