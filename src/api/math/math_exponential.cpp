// SPDX-License-Identifier: Apache-2.0
// exp, expm1, log, log1p, pow and sqrt.
#include <cmath>
#include <cstdint>
#include <limits>

#include <numawarp/math.hpp>

#include "api/math/exponential.hpp"
#include "api/math/logarithm.hpp"
#include "api/math/polynomial.hpp"

namespace nw::math {
namespace {

using portable::DoubleDouble;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// e^(x + correction). Requires: x is not NaN.
double exponential(double x, double correction) noexcept {
    if (x > 720) return infinity;
    if (x < -760) return 0;
    const auto parts = portable::exponential_parts(x, correction);
    const double near_one = parts.power.high + (parts.power.low + parts.power.high * parts.rest);
    return portable::scaled(near_one, parts.exponent);
}

bool is_integer(double x) noexcept { return std::trunc(x) == x; }

bool is_odd(double x) noexcept {
    // All doubles from 2^53 on are even. Half of an odd integer is not an integer.
    return is_integer(x) && std::fabs(x) < 0x1p53 && !is_integer(x / 2);
}

// pow(x, y) if x is 0 or infinite. The result is 0 or infinity, and is negative if x is negative
// and y is odd.
double power_of_extreme(double x, double y) noexcept {
    const double magnitude = (x == 0) == (y > 0) ? 0 : infinity;
    return std::signbit(x) && is_odd(y) ? -magnitude : magnitude;
}

double power_with_infinite(double x, double y) noexcept {
    if (std::fabs(x) == 1) return 1;
    return (std::fabs(x) > 1) == (y > 0) ? infinity : 0;
}

}  // namespace

double exp(double x) noexcept { return std::isnan(x) ? no_number : exponential(x, 0); }

double expm1(double x) noexcept {
    if (std::isnan(x)) return no_number;
    if (std::fabs(x) < 0x1p-54) return x;
    if (x < -40) return -1;
    if (x > 100) return exponential(x, 0);
    if (std::fabs(x) < 0.35) {
        // The series of (e^x - 1 - x - x^2/2)/x^3.
        constexpr std::array<double, 12> series = {
            1.0 / 6,        1.0 / 24,        1.0 / 120,        1.0 / 720,
            1.0 / 5040,     1.0 / 40320,     1.0 / 362880,     1.0 / 3628800,
            1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800, 1.0 / 87178291200};
        const double x2 = x * x;
        return x + (0.5 * x2 + x2 * x * portable::polynomial(series, x));
    }
    const auto parts = portable::exponential_parts(x, 0);
    const double high = portable::scaled(parts.power.high, parts.exponent);
    const double low =
        portable::scaled(1, parts.exponent) * (parts.power.low + parts.power.high * parts.rest);
    const DoubleDouble without_one = portable::exact_sum(high, -1);
    return without_one.high + (without_one.low + low);
}

double log(double x) noexcept {
    if (std::isnan(x) || x < 0) return no_number;
    if (x == 0) return -infinity;
    return std::isinf(x) ? x : portable::precise_log(x).high;
}

double log1p(double x) noexcept {
    if (std::isnan(x) || x < -1) return no_number;
    if (x == -1) return -infinity;
    if (std::fabs(x) < 0x1p-54 || std::isinf(x)) return x;
    // The rounding error e of u = 1 + x is added with log(u + e) = log(u) + e/u.
    const DoubleDouble sum = portable::exact_sum(1, x);
    const DoubleDouble log = portable::precise_log(sum.high);
    return log.high + (log.low + sum.low / sum.high);
}

double pow(double x, double y) noexcept {
    if (y == 0 || x == 1) return 1;
    if (std::isnan(x) || std::isnan(y)) return no_number;
    if (std::isinf(y)) return power_with_infinite(x, y);
    if (x == 0 || std::isinf(x)) return power_of_extreme(x, y);
    if (x < 0 && !is_integer(y)) return no_number;
    const double sign = x < 0 && is_odd(y) ? -1 : 1;

    const DoubleDouble log = portable::precise_log(std::fabs(x));
    const double estimate = y * log.high;
    if (estimate > 720) return sign * infinity;
    if (estimate < -760) return sign * 0.0;
    if (std::fabs(estimate) < 0x1p-60) return sign;
    const DoubleDouble product = portable::exact_product(y, log.high);
    return sign * exponential(product.high, product.low + y * log.low);
}

double sqrt(double x) noexcept { return x < 0 || std::isnan(x) ? no_number : std::sqrt(x); }

}  // namespace nw::math
