// SPDX-License-Identifier: Apache-2.0
// The logarithm and the cosine from which random numbers are made. Like the functions of
// <numawarp/math.hpp>, they give the same bits on every machine. They accept a narrower range of
// arguments and are slightly less exact, because most events call them and they must be fast.
// Requires: -ffp-contract=off, with which all of numawarp is compiled.
//
// The relative error of log is below 2^-51. The absolute error of cos_turn is below 2^-52. These
// bounds were found with 20 million arguments for each function, in comparison with long double.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "api/math/double_double.hpp"

namespace nw::portable {

namespace detail {

// Table-driven (Tang: "Table-driven implementation of the logarithm function in IEEE floating-point
// arithmetic", 1990): x = 2^k z with z in [11/16, 11/8). For z's interval, a table contains a
// number c near 1/z, and log(1/c). A short series gives log(1 + r) for r = cz - 1. The two
// intervals that touch 1 have c = 1. In these intervals, the result is the series alone, and its
// relative error is as small as in the other intervals.
struct LogInterval {
    double c;  // has 10 bits
    double log_of_inverse;
};

inline constexpr int log_index_bits = 7;
inline constexpr std::uint64_t log_z_min_bits = std::bit_cast<std::uint64_t>(0.6875);

// log(1/c) = -2 artanh((c - 1)/(c + 1)), at compile time.
constexpr DoubleDouble log_of_inverse(double c) {
    const DoubleDouble q = DoubleDouble{c - 1, 0} / (c + 1);
    DoubleDouble sum{0, 0};
    DoubleDouble power = q;
    for (int n = 1; n < 60; n += 2) {
        sum = sum + power / n;
        power = power * (q * q);
    }
    return {-2 * sum.high, -2 * sum.low};
}

inline constexpr auto log_table = [] {
    std::array<LogInterval, 1 << log_index_bits> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const double low = std::bit_cast<double>(log_z_min_bits + (i << (52 - log_index_bits)));
        const double high =
            std::bit_cast<double>(log_z_min_bits + ((i + 1) << (52 - log_index_bits)));
        const int rounded = static_cast<int>(512 / ((low + high) / 2) + 0.5);
        const double c = low <= 1 && 1 <= high ? 1 : rounded / 512.0;
        table[i] = {c, log_of_inverse(c).high};
    }
    return table;
}();

// x = 2^k z, and cz = 1 + r_high + r_low, exactly.
struct LogArgument {
    double k;
    std::size_t interval;
    double r_high, r_low;
};

inline LogArgument log_argument(double x) noexcept {
    constexpr std::uint64_t exponent_bits = std::uint64_t{0xfff} << 52;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t above = bits - log_z_min_bits;
    const auto k = static_cast<double>(static_cast<std::int64_t>(above) >> 52);
    const std::size_t interval = (above >> (52 - log_index_bits)) % log_table.size();

    // The product of c and the upper half of z is exact, and so is its difference from 1.
    const double c = log_table[interval].c;
    const std::uint64_t z_bits = bits - (above & exponent_bits);
    const double z = std::bit_cast<double>(z_bits);
    const double z_upper = std::bit_cast<double>(z_bits & ~std::uint64_t{0x1fffff});
    return {k, interval, z_upper * c - 1, (z - z_upper) * c};
}

}  // namespace detail

// The natural logarithm. Requires: x is positive, finite and not subnormal.
inline double log(double x) noexcept {
    const detail::LogArgument argument = detail::log_argument(x);
    const double r = argument.r_high + argument.r_low;
    const double r2 = r * r;
    const double tail =
        (r * (1.0 / 3) - 0.5) + r2 * ((0.2 * r - 0.25) + r2 * (r * (1.0 / 7) - (1.0 / 6)));
    const double rest = detail::log_table[argument.interval].log_of_inverse;
    return (argument.k * std::numbers::ln2 + rest) + (r + r2 * tail);
}

// The cosine of an angle that is given in full turns. Requires: 0 ≤ turns ≤ 1.
inline double cos_turn(double turns) noexcept {
    // The angle is split exactly into the nearest quarter turn and a rest of at most π/4. A series
    // gives the sine or cosine of the rest.
    const int quarter = static_cast<int>(4 * turns + 0.5);
    const double angle = (4 * turns - quarter) * (std::numbers::pi / 2);
    const double a2 = angle * angle;
    if (quarter % 2 == 0) {
        double sum = 1.0 / 20922789888000;  // 1/16!
        sum = sum * a2 - 1.0 / 87178291200;
        sum = sum * a2 + 1.0 / 479001600;
        sum = sum * a2 - 1.0 / 3628800;
        sum = sum * a2 + 1.0 / 40320;
        sum = sum * a2 - 1.0 / 720;
        sum = sum * a2 + 1.0 / 24;
        sum = sum * a2 - 1.0 / 2;
        const double cosine = sum * a2 + 1;
        return quarter == 2 ? -cosine : cosine;
    }
    double sum = -1.0 / 1307674368000;  // -1/15!
    sum = sum * a2 + 1.0 / 6227020800;
    sum = sum * a2 - 1.0 / 39916800;
    sum = sum * a2 + 1.0 / 362880;
    sum = sum * a2 - 1.0 / 5040;
    sum = sum * a2 + 1.0 / 120;
    sum = sum * a2 - 1.0 / 6;
    const double sine = sum * a2 * angle + angle;
    return quarter == 1 ? -sine : sine;
}

}  // namespace nw::portable
