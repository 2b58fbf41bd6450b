// ROOT-Sim's random numbers: xoshiro256** (Blackman, Vigna: "Scrambled linear pseudorandom number
// generators", 2021), and the same distributions of the same draws. Logarithms are the C library's, as
// there, for equal numbers on the same machine.
#include "rootsim/include/rootsim/random.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "rootsim/lp.hpp"

namespace {

std::uint64_t next(nw::rootsim::Generator& s) noexcept {
    const std::uint64_t result = std::rotl(s[1] * 5, 7) * 9;
    const std::uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = std::rotl(s[3], 45);
    return result;
}

}  // namespace

std::uint64_t RandomU64() { return next(nw::rootsim::current_call("RandomU64").lp->generator); }

// The 52 bits behind the first one that is set are the fraction, and what stands before it is the exponent:
// small numbers are as dense as doubles are.
double Random() {
    const std::uint64_t bits = next(nw::rootsim::current_call("Random").lp->generator);
    if (bits == 0) return 0;
    const auto zeros = static_cast<unsigned>(std::countl_zero(bits));
    const std::uint64_t fraction = bits << zeros << 1 >> 12;
    return std::bit_cast<double>(fraction | std::uint64_t{1022 - zeros} << 52);
}

double Poisson() { return -std::log(1 - Random()); }

// Marsaglia's polar method; the second number of a pair is not kept.
double Normal() {
    for (;;) {
        const double x = 2 * Random() - 1;
        const double y = 2 * Random() - 1;
        const double square = x * x + y * y;
        if (square < 1 && square != 0) return x * std::sqrt(-2 * std::log(square) / square);
    }
}

int RandomRange(int min, int max) {
    return static_cast<int>(std::floor(Random() * (max - min + 1))) + min;
}

int RandomRangeNonUniform(int x, int min, int max) {
    const int first = RandomRange(0, x);
    return (first | RandomRange(min, max)) % (max - min + 1) + min;
}

double Gamma(unsigned ia) {
    if (ia < 6) {
        double product = 1;
        for (unsigned i = 0; i < ia; ++i) product *= 1 - Random();
        return -std::log(product);
    }
    // Rejection, with the tangent of an angle from a point of the half disk.
    const double mode = ia - 1;
    const double width = std::sqrt(2 * mode + 1);
    for (;;) {
        double x = 0;
        double y = 0;
        do {
            x = Random();
            y = 2 * Random() - 1;
        } while (x * x + y * y > 1);
        const double tangent = y / x;
        const double offset = width * tangent;
        const double value = offset + mode;
        if (value >= 0 &&
            Random() <= (1 + tangent * tangent) * std::exp(mode * std::log(value / mode) - offset))
            return value;
    }
}

unsigned Zipf(double skew, unsigned limit) {
    const double b = std::pow(2, skew - 1);
    for (;;) {
        const double x = std::floor(std::pow(Random(), -1 / skew - 1));
        if (x > limit) continue;
        const double t = std::pow(1 + 1 / x, skew - 1);
        if (Random() * x * (t - 1) * b <= t * (b - 1)) return static_cast<unsigned>(x);
    }
}
