// SPDX-License-Identifier: Apache-2.0
#include "util/exact_sum.hpp"

#include <bit>
#include <cmath>

namespace nw {
namespace {

constexpr std::uint32_t adds_max = 1u << 29;  // keeps each digit within 63 bits

}  // namespace

void ExactSum::add(double value) noexcept {
    if (value == 0) return;
    constexpr int mantissa_bits = 53;
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, mantissa_bits));
    int place = exponent - mantissa_bits - lowest_exponent;
    if (place < 0) {  // a subnormal number: the last bits of `mantissa` are zero
        mantissa /= std::int64_t{1} << -place;
        place = 0;
    }
    const std::int64_t sign = mantissa < 0 ? -1 : 1;
    const auto bits = static_cast<std::uint64_t>(std::abs(mantissa));
    const auto first = static_cast<std::size_t>(place / digit_bits);
    const int shift = place % digit_bits;
    constexpr std::uint64_t mask = 0xffff'ffff;
    const std::uint64_t low = (bits & mask) << shift;
    const std::uint64_t high = (bits >> digit_bits) << shift;
    digit_[first] += sign * static_cast<std::int64_t>(low & mask);
    digit_[first + 1] += sign * static_cast<std::int64_t>((low >> digit_bits) + (high & mask));
    digit_[first + 2] += sign * static_cast<std::int64_t>(high >> digit_bits);
    if (++adds_ >= adds_max) carry();
}

void ExactSum::add_product(double a, double b) noexcept {
    const double product = a * b;
    add(product);
    add(std::fma(a, b, -product));
}

ExactSum& ExactSum::combine(const ExactSum& other, std::int64_t sign) noexcept {
    ExactSum carried = other;
    carried.carry();
    for (std::size_t i = 0; i < digits; ++i) digit_[i] += sign * carried.digit_[i];
    if (++adds_ >= adds_max) carry();
    return *this;
}

void ExactSum::carry() noexcept {
    for (std::size_t i = 0; i + 1 < digits; ++i) {
        const std::int64_t over = digit_[i] >> digit_bits;  // rounds down
        digit_[i] -= over << digit_bits;
        digit_[i + 1] += over;
    }
    adds_ = 0;
}

double ExactSum::value() const noexcept {
    ExactSum sum = *this;
    sum.carry();
    const bool negative = sum.digit_.back() < 0;
    if (negative) {
        for (std::int64_t& digit : sum.digit_) digit = -digit;
        sum.carry();
    }
    std::size_t top = digits;
    while (top > 0 && sum.digit_[top - 1] == 0) --top;
    if (top == 0) return 0;
    // 64 bits, beginning with the highest bit that is set. The last of these 64 bits is also set if
    // any lower bit is set, so that the conversion to double rounds correctly.
    const auto digit = [&](std::size_t below) {
        return top > below ? static_cast<std::uint64_t>(sum.digit_[top - 1 - below]) : 0;
    };
    std::uint64_t bits = digit(0) << digit_bits | digit(1);
    const int room = std::countl_zero(bits);
    const std::uint64_t third = digit(2) << digit_bits;
    if (room > 0) bits = bits << room | third >> (64 - room);
    bool rest = third << room != 0;
    for (std::size_t below = 3; below < top; ++below) rest = rest || digit(below) != 0;
    bits |= rest ? 1 : 0;
    const int place = (static_cast<int>(top) - 2) * digit_bits - room + lowest_exponent;
    const double magnitude = std::ldexp(static_cast<double>(bits), place);
    return negative ? -magnitude : magnitude;
}

}  // namespace nw
