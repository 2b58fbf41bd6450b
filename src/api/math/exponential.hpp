// SPDX-License-Identifier: Apache-2.0
// e^x as the product of a number near 1 and a power of two. Functions that multiply e^x by another
// factor use this form: e^x may be too small or too large for a double although the product is not.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "api/math/double_double.hpp"

namespace nw::portable {

// 2^(j/32), 0 ≤ j < 32, computed at compile time with the series of the exponential function.
inline constexpr auto power_of_two_table = [] {
    constexpr DoubleDouble ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    std::array<DoubleDouble, 32> table{};
    for (std::size_t j = 0; j < table.size(); ++j) {
        const DoubleDouble x = ln2 * DoubleDouble{static_cast<double>(j) / 32, 0};
        DoubleDouble sum{1, 0}, term{1, 0};
        for (int n = 1; n < 28; ++n) {
            term = term * x / n;
            sum = sum + term;
        }
        table[j] = sum;
    }
    return table;
}();

// power · (1 + rest) · 2^exponent, with |rest| < 0.011.
struct ExponentialParts {
    DoubleDouble power;
    double rest;
    int exponent;
};

// e^(x + correction). Requires: |x| < 1100 and |correction| far below 1.
inline ExponentialParts exponential_parts(double x, double correction) noexcept {
    // x = (32 exponent + j) ln(2)/32 + r. The addition of the magic number rounds to the nearest
    // integer. The product of this integer and the upper part of ln(2)/32, which has 34 bits, is
    // exact.
    constexpr double magic = 0x1.8p52;
    const double steps = (x * 0x1.71547652b82fep+5 + magic) - magic;
    const auto n = static_cast<int>(steps);
    const double r =
        (x - steps * 0x1.62e42fef80000p-6) - (steps * 0x1.1cf79abc9e3b4p-41 - correction);
    double rest = 1.0 / 720;
    rest = rest * r + 1.0 / 120;
    rest = rest * r + 1.0 / 24;
    rest = rest * r + 1.0 / 6;
    rest = rest * r + 1.0 / 2;
    return {power_of_two_table[static_cast<std::size_t>(n & 31)], r + r * r * rest, n >> 5};
}

// x · 2^exponent, rounded once. Requires: 2^-2 < |x| < 2^7.
inline double scaled(double x, int exponent) noexcept {
    const auto power = [](int e) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + e) << 52);
    };
    if (exponent > 1100) exponent = 1100;
    if (exponent < -1150) exponent = -1150;
    if (exponent > 1000) return x * power(exponent - 200) * power(200);
    if (exponent < -1000) return x * power(exponent + 200) * power(-200);
    return x * power(exponent);
}

}  // namespace nw::portable
