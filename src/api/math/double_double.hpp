// SPDX-License-Identifier: Apache-2.0
// Numbers of about 106 bits as the unevaluated sum of two doubles, for the few places where 53 bits
// do not suffice. Dekker: "A floating-point technique for extending the available precision"
// (1971). Requires: -ffp-contract=off; no operand and no partial product overflows or underflows.
#pragma once

namespace nw::portable {

struct DoubleDouble {
    double high;  // the sum, rounded
    double low;   // the rest
};

// a + b, exactly.
constexpr DoubleDouble exact_sum(double a, double b) noexcept {
    const double sum = a + b;
    const double from_b = sum - a;
    return {sum, (a - (sum - from_b)) + (b - from_b)};
}

// a + b, exactly, with fewer operations. Requires: |a| ≥ |b|, or a = 0.
constexpr DoubleDouble quick_sum(double a, double b) noexcept {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

// The two halves of a, of 26 bits each (Veltkamp). Requires: |a| < 2^996.
constexpr DoubleDouble halves(double a) noexcept {
    const double scaled = a * 134217729.0;  // 2^27 + 1
    const double upper = scaled - (scaled - a);
    return {upper, a - upper};
}

// a · b, exactly.
constexpr DoubleDouble exact_product(double a, double b) noexcept {
    const DoubleDouble x = halves(a), y = halves(b);
    const double product = a * b;
    const double error = ((x.high * y.high - product) + x.high * y.low + x.low * y.high);
    return {product, error + x.low * y.low};
}

constexpr DoubleDouble operator+(DoubleDouble a, DoubleDouble b) noexcept {
    const DoubleDouble sum = exact_sum(a.high, b.high);
    return quick_sum(sum.high, sum.low + (a.low + b.low));
}

constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) noexcept {
    const DoubleDouble product = exact_product(a.high, b.high);
    return quick_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr DoubleDouble operator/(DoubleDouble a, double b) noexcept {
    const double quotient = a.high / b;
    const DoubleDouble back = exact_product(quotient, b);
    return quick_sum(quotient, ((a.high - back.high) - back.low + a.low) / b);
}

}  // namespace nw::portable
