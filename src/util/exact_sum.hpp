// SPDX-License-Identifier: Apache-2.0
// The sum of doubles without rounding, and therefore independent of the order of the additions. The
// sum is a fixed-point number with one digit for each 32 bits of the range of doubles (Kulisch:
// "Computer arithmetic and validity", 2008). Only value() rounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nw {

class ExactSum {
  public:
    // Requires: `value` is finite.
    void add(double value) noexcept;
    // Adds the product without rounding. Requires: no overflow and no underflow.
    void add_product(double a, double b) noexcept;
    ExactSum& operator+=(const ExactSum& other) noexcept { return combine(other, 1); }
    ExactSum& operator-=(const ExactSum& other) noexcept { return combine(other, -1); }

    // The sum, rounded to the nearest double. A subnormal result may be a neighbor of the nearest
    // double.
    double value() const noexcept;

  private:
    static constexpr int digit_bits = 32;
    static constexpr int lowest_exponent = -1074;
    // 2,098 bits cover the range of doubles. The other 46 bits take carries: enough for 2^46
    // additions.
    static constexpr std::size_t digits = 67;

    ExactSum& combine(const ExactSum& other, std::int64_t sign) noexcept;
    void carry() noexcept;

    // The value is the sum of digit_[i] * 2^(32 i - 1074). |digit_[i]| is at most 2^32 (adds_ + 1).
    // After carry(), each digit is in [0, 2^32), except the last digit, which has the sign.
    std::array<std::int64_t, digits> digit_{};
    std::uint32_t adds_ = 0;
};

}  // namespace nw
