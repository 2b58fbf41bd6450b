// Sums of floating-point numbers without rounding, and so the same in any order: a fixed-point number with
// a digit for each 32 bits of the range of doubles (Kulisch: "Computer arithmetic and validity", 2008).
// Rounded once, when it is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nw {

class ExactSum {
  public:
    // Requires: finite.
    void add(double value) noexcept;
    // The product as it is, without rounding. Requires: neither overflow nor underflow.
    void add_product(double a, double b) noexcept;
    ExactSum& operator+=(const ExactSum& other) noexcept { return combine(other, 1); }
    ExactSum& operator-=(const ExactSum& other) noexcept { return combine(other, -1); }

    // The nearest double (of a subnormal one, perhaps its neighbour).
    double value() const noexcept;

  private:
    static constexpr int digit_bits = 32;
    static constexpr int lowest_exponent = -1074;
    // 2,098 bits of doubles, and 46 bits for carries of as many sums.
    static constexpr std::size_t digits = 67;

    ExactSum& combine(const ExactSum& other, std::int64_t sign) noexcept;
    void carry() noexcept;

    // Sum of digit_[i] * 2^(32 i - 1074). A digit is within 2^32 times (adds_ + 1); after carry() it is
    // in [0, 2^32), but for the last one, which has the sign.
    std::array<std::int64_t, digits> digit_{};
    std::uint32_t adds_ = 0;
};

}  // namespace nw
