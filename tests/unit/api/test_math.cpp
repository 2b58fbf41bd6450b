// SPDX-License-Identifier: Apache-2.0
// Compares the functions of <numawarp/math.hpp> with the C library's functions in long double,
// which are 11 bits more precise. Tests the functions also at the special values of the C standard.
// test_math_bits.cpp tests the exact bits.
#include <numawarp/math.hpp>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

namespace {

namespace math = nw::math;

static_assert(LDBL_MANT_DIG >= 64, "long double must be more precise than double");

// The error in units of the last place of the exact result; 1e9 if a NaN or an infinity is wrong.
double error_of(double result, long double exact) {
    const auto rounded = static_cast<double>(exact);
    if (std::isnan(rounded) || std::isnan(result)) {
        return std::isnan(rounded) && std::isnan(result) ? 0 : 1e9;
    }
    if (std::isinf(rounded) || std::isinf(result)) return rounded == result ? 0 : 1e9;
    int exponent;
    std::frexp(std::max(std::fabs(rounded), DBL_MIN), &exponent);
    return static_cast<double>(std::fabs(result - exact) / std::ldexp(1.0L, exponent - 53));
}

class Arguments {
  public:
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53;
    }
    // Log-uniform between `low` and `high`, with a random sign.
    double of_size(double low, double high) {
        const double size = std::exp(between(std::log(low), std::log(high)));
        return bits_() % 2 == 0 ? size : -size;
    }
    double any_positive() {
        for (;;) {
            const double x = std::bit_cast<double>(bits_() >> 1);
            if (std::isfinite(x)) return x;
        }
    }

  private:
    std::mt19937_64 bits_{1};
};

using Function = double (*)(double);
using Ruler = long double (*)(long double);

void measure(const std::string& name, Function function, Ruler ruler, double bound, int arguments,
             const std::function<double(Arguments&)>& draw) {
    Arguments random;
    double worst = 0, at = 0;
    for (int i = 0; i < arguments; ++i) {
        const double x = draw(random);
        const double error = error_of(function(x), ruler(x));
        if (error > worst) {
            worst = error;
            at = x;
        }
    }
    INFO(name << ": error " << worst << " at " << at);
    CHECK(worst <= bound);
}

// The bounds are those that math.hpp states.
void measure_all(int n) {
    measure("exp", math::exp, std::exp, 0.76, n, [](auto& r) { return r.between(-746, 710); });
    measure("exp", math::exp, std::exp, 0.76, n, [](auto& r) { return r.between(-1, 1); });
    measure("expm1", math::expm1, std::expm1, 0.76, n, [](auto& r) { return r.between(-1, 1); });
    measure("expm1", math::expm1, std::expm1, 0.76, n,
            [](auto& r) { return r.of_size(1e-20, 700); });
    measure("log", math::log, std::log, 0.51, n, [](auto& r) { return r.any_positive(); });
    measure("log", math::log, std::log, 0.51, n, [](auto& r) { return r.between(0.5, 2); });
    measure("log", math::log, std::log, 0.51, n, [](auto& r) { return 1 + r.of_size(1e-16, 0.1); });
    measure("log1p", math::log1p, std::log1p, 0.67, n, [](auto& r) { return r.between(-1, 1); });
    measure("log1p", math::log1p, std::log1p, 0.67, n,
            [](auto& r) { return std::max(-0.9999, r.of_size(1e-20, 1e20)); });
    measure("sin", math::sin, std::sin, 1.1, n, [](auto& r) { return r.between(-10, 10); });
    measure("sin", math::sin, std::sin, 1.1, n, [](auto& r) { return r.of_size(1e-10, 1e18); });
    measure("cos", math::cos, std::cos, 1.1, n, [](auto& r) { return r.between(-10, 10); });
    measure("cos", math::cos, std::cos, 1.1, n, [](auto& r) { return r.of_size(1e-10, 1e18); });
    measure("erf", math::erf, std::erf, 1.45, n, [](auto& r) { return r.between(-7, 7); });
    measure("erf", math::erf, std::erf, 1.45, n, [](auto& r) { return r.of_size(1e-300, 7); });
    measure("erfc", math::erfc, std::erfc, 3.4, n, [](auto& r) { return r.between(-7, 28); });
    measure("erfc", math::erfc, std::erfc, 3.4, n, [](auto& r) { return r.between(0, 6); });
    measure("sqrt", math::sqrt, std::sqrt, 0.5, n, [](auto& r) { return r.any_positive(); });
}

void measure_pow(int arguments) {
    Arguments random;
    double worst = 0;
    const auto compare = [&](double x, double y) {
        const double error = error_of(math::pow(x, y), std::pow(static_cast<long double>(x), y));
        worst = std::max(worst, error);
    };
    for (int i = 0; i < arguments; ++i) {
        const double x = random.any_positive();
        compare(x, random.between(-745, 709) / std::log(x));
        compare(x, random.of_size(1e-300, 1e300));
        compare(random.between(0, 4), random.between(-30, 30));
        compare(1 + random.between(-1e-3, 1e-3), random.between(-7e5, 7e5));
    }
    CHECK(worst <= 0.76);
}

TEST_CASE(
    "math: the error of every function is within the units in the last place that math.hpp "
    "states") {
    measure_all(static_cast<int>(nw::test::effort(20'000)));
    measure_pow(static_cast<int>(nw::test::effort(20'000)));
}

TEST_CASE(
    "math: nightly: the error of every function is within its stated units for more arguments",
    "[.nightly]") {
    measure_all(4'000'000);
    measure_pow(1'000'000);
}

// Returns whether the result is close to the C library's result. Infinity and zero must have the
// same value and sign. A NaN must be the positive quiet NaN.
bool as_in_c(double result, double expected) {
    if (std::isnan(expected)) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        return std::bit_cast<std::uint64_t>(result) == std::bit_cast<std::uint64_t>(nan);
    }
    if (expected == 0 || std::isinf(expected)) {
        return result == expected && std::signbit(result) == std::signbit(expected);
    }
    return std::fabs(result - expected) <= 5e-16 * std::fabs(expected) ||
           std::fabs(result - expected) <= std::numeric_limits<double>::denorm_min();
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double special[] = {0,
                              1,
                              2,
                              3,
                              0.5,
                              1.5,
                              infinity,
                              5e-324,
                              1e308,
                              1e-300,
                              745.2,
                              746,
                              709.9,
                              27.5,
                              0x1p53,
                              0x1p53 + 2,
                              0x1p52 + 1,
                              40,
                              6,
                              28,
                              0x1p-54,
                              0x1p-27,
                              0x1p-1022,
                              0.35,
                              -0.0,
                              -1,
                              -2,
                              -3,
                              -0.5,
                              -1.5,
                              -infinity,
                              -5e-324,
                              -1e308,
                              -1e-300,
                              -745.2,
                              -746,
                              -709.9,
                              -27.5,
                              -0x1p53,
                              -0x1p53 - 2,
                              -0x1p52 - 1,
                              -40,
                              -6,
                              -28,
                              -0x1p-54,
                              -0x1p-27,
                              -0x1p-1022,
                              -0.35,
                              std::numeric_limits<double>::quiet_NaN(),
                              -std::numeric_limits<double>::quiet_NaN()};

TEST_CASE("math: zeros and infinities and NaN give the results of the C standard") {
    for (const double x : special) {
        INFO(x);
        CHECK(as_in_c(math::sqrt(x), std::sqrt(x)));
        CHECK(as_in_c(math::exp(x), std::exp(x)));
        CHECK(as_in_c(math::expm1(x), std::expm1(x)));
        CHECK(as_in_c(math::log(x), std::log(x)));
        CHECK(as_in_c(math::log1p(x), std::log1p(x)));
        CHECK(as_in_c(math::sin(x), std::sin(x)));
        CHECK(as_in_c(math::cos(x), std::cos(x)));
        CHECK(as_in_c(math::erf(x), std::erf(x)));
        CHECK(as_in_c(math::erfc(x), std::erfc(x)));
        for (const double y : special) {
            INFO("pow with exponent " << y);
            CHECK(as_in_c(math::pow(x, y), std::pow(x, y)));
        }
    }
}

}  // namespace
