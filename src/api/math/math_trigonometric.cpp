// SPDX-License-Identifier: Apache-2.0
// sin and cos. Integer arithmetic reduces an angle of any size exactly to a number of quarter turns
// and a rest (after Payne and Hanek: "Radian reduction for trigonometric functions", 1983). All
// angles beyond π/4 use this method. The method is fast on processors that multiply two 64-bit
// words with one instruction.
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <numawarp/math.hpp>

#include "api/math/double_double.hpp"
#include "api/math/polynomial.hpp"

namespace nw::math {
namespace {

using portable::DoubleDouble;
__extension__ using Wide = unsigned __int128;

// 64 zeros, then the first 1,280 bits of 2/π behind the binary point.
constexpr std::array<std::uint64_t, 21> two_over_pi = {0,
                                                       0xa2f9836e4e441529,
                                                       0xfc2757d1f534ddc0,
                                                       0xdb6295993c439041,
                                                       0xfe5163abdebbc561,
                                                       0xb7246e3a424dd2e0,
                                                       0x06492eea09d1921c,
                                                       0xfe1deb1cb129a73e,
                                                       0xe88235f52ebb4484,
                                                       0xe99c7026b45f7e41,
                                                       0x3991d639835339f4,
                                                       0x9c845f8bbdf9283b,
                                                       0x1ff897ffde05980f,
                                                       0xef2f118b5a0a6d1f,
                                                       0x6d367ecf27cb09b7,
                                                       0x4f463f669e5fea2d,
                                                       0x7527bac7ebe5f17b,
                                                       0x3d0739f78a5292ea,
                                                       0x6bfb5fb11f8d5d08,
                                                       0x56033046fc7b6bab,
                                                       0xf0cfbc209af4361d};

// 64 bits of 2/π, beginning with the bit of value 2^-position. Requires: -63 ≤ position ≤ 1152.
std::uint64_t bits_from(int position) noexcept {
    const int index = position + 63;  // of the bit in the table
    const auto word = static_cast<std::size_t>(index / 64);
    const int shift = index % 64;
    if (shift == 0) return two_over_pi[word];
    return two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift);
}

struct Reduced {
    unsigned quarters;   // modulo 4
    DoubleDouble angle;  // the rest, from -π/4 to π/4
};

// Requires: x is finite, and |x| ≥ π/4.
Reduced reduce(double x) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1075;
    const std::uint64_t mantissa = (bits & 0xfffffffffffff) | std::uint64_t{1} << 52;

    // |x| = mantissa · 2^exponent. Bits of 2/π above 2^-(exponent - 1) contribute only multiples of
    // four quarters. The product with the next 192 bits is exact modulo 4. The later bits
    // contribute less than 2^-137.
    std::array<std::uint64_t, 3> fraction;  // highest first: two bits of quarters, then the rest
    Wide carry = 0;
    for (int i = 2; i >= 0; --i) {
        const Wide product = Wide{mantissa} * bits_from(exponent - 1 + 64 * i) + carry;
        fraction[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(product);
        carry = product >> 64;
    }
    auto quarters = static_cast<unsigned>(fraction[0] >> 62);
    fraction = {fraction[0] << 2 | fraction[1] >> 62, fraction[1] << 2 | fraction[2] >> 62,
                fraction[2] << 2};

    // Round to the nearest quarter.
    const bool above = fraction[0] >> 63 != 0;
    if (above) {
        quarters = (quarters + 1) % 4;
        std::uint64_t borrow = 1;  // the negative is the complement plus one
        for (std::size_t i = 3; i-- > 0;) {
            fraction[i] = ~fraction[i] + borrow;
            borrow = borrow == 1 && fraction[i] == 0 ? 1 : 0;
        }
    }
    // No double is nearer to a multiple of π/2 than 2^-61, so the first word is not 0.
    const int zeros = std::countl_zero(fraction[0]);
    if (zeros > 0) {
        fraction[0] = fraction[0] << zeros | fraction[1] >> (64 - zeros);
        fraction[1] = fraction[1] << zeros | fraction[2] >> (64 - zeros);
    }
    const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - 53 - zeros) << 52);
    const double high = static_cast<double>(fraction[0] >> 11) * unit;
    const double low =
        static_cast<double>((fraction[0] & 0x7ff) << 42 | fraction[1] >> 22) * (unit * 0x1p-53);
    constexpr DoubleDouble quarter_turn{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
    const DoubleDouble angle = DoubleDouble{high, low} * quarter_turn;
    return {quarters, above ? DoubleDouble{-angle.high, -angle.low} : angle};
}

// Series for angles from -π/4 to π/4.
double short_sine(DoubleDouble angle) noexcept {
    constexpr std::array<double, 7> series = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
    const double a = angle.high, a2 = a * a;
    return a + (a2 * a * portable::polynomial(series, a2) + angle.low * (1 - 0.5 * a2));
}

double short_cosine(DoubleDouble angle) noexcept {
    constexpr std::array<double, 7> series = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
    const double a = angle.high, a2 = a * a;
    const double half = 0.5 * a2;
    const double first = 1 - half;
    const double lost = (1 - first) - half;
    return first + (lost + (a2 * a2 * portable::polynomial(series, a2) - a * angle.low));
}

// The sine of `angle` plus `quarters` quarter turns.
double sine_after(unsigned quarters, DoubleDouble angle) noexcept {
    const double value = quarters % 2 == 0 ? short_sine(angle) : short_cosine(angle);
    return quarters % 4 < 2 ? value : -value;
}

constexpr double eighth_turn = 0x1.921fb54442d18p-1;

}  // namespace

double sin(double angle) noexcept {
    if (!std::isfinite(angle)) return std::numeric_limits<double>::quiet_NaN();
    if (std::fabs(angle) < 0x1p-27) return angle;
    if (std::fabs(angle) <= eighth_turn) return short_sine({angle, 0});
    const Reduced reduced = reduce(angle);
    const double sine = sine_after(reduced.quarters, reduced.angle);
    return angle < 0 ? -sine : sine;
}

double cos(double angle) noexcept {
    if (!std::isfinite(angle)) return std::numeric_limits<double>::quiet_NaN();
    if (std::fabs(angle) <= eighth_turn) return short_cosine({angle, 0});
    const Reduced reduced = reduce(angle);
    return sine_after(reduced.quarters + 1, reduced.angle);
}

}  // namespace nw::math
