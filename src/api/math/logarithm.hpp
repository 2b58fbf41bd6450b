// SPDX-License-Identifier: Apache-2.0
// The natural logarithm with a relative error of about 2^-68, for log(), log1p() and pow(). It uses
// the intervals of portable_math.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "api/math/double_double.hpp"
#include "api/math/polynomial.hpp"
#include "api/math/portable_math.hpp"

namespace nw::portable {

// log(1/c) of each interval, with the precision of two doubles.
inline constexpr auto precise_log_table = [] {
    std::array<DoubleDouble, std::size_t{1} << detail::log_index_bits> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        table[i] = detail::log_of_inverse(detail::log_table[i].c);
    }
    return table;
}();

// Requires: x is positive and finite. x may be subnormal.
inline DoubleDouble precise_log(double x) noexcept {
    const detail::LogArgument a =
        x < 0x1p-1022 ? detail::log_argument(x * 0x1p54) : detail::log_argument(x);
    const double k = x < 0x1p-1022 ? a.k - 54 : a.k;

    // log(1 + r) = r - r^2/2 + r^3 (1/3 - r/4 + …). The first two terms have twice the precision.
    const DoubleDouble r = quick_sum(a.r_high, a.r_low);
    const DoubleDouble square = r * r;
    constexpr std::array<double, 8> series = {1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6,
                                              1.0 / 7, -1.0 / 8, 1.0 / 9, -1.0 / 10};
    const double tail = square.high * r.high * polynomial(series, r.high);
    const DoubleDouble of_rest =
        r + (DoubleDouble{-0.5 * square.high, -0.5 * square.low} + DoubleDouble{tail, 0});

    // The upper part of ln(2) has 41 bits, so that its product with k is exact.
    const DoubleDouble of_power{k * 0x1.62e42fefa3000p-1, k * 0x1.3de6af278ece6p-42};
    return (of_power + precise_log_table[a.interval]) + of_rest;
}

}  // namespace nw::portable
