// ROOT-Sim's random numbers: the same distributions of the same draws. Logarithms are the C library's, as there,
// for equal numbers on the same machine.
#include "rootsim/include/rootsim/random.h"

#include <cmath>
#include <cstdint>

#include "rootsim/stream.hpp"

using nw::rootsim::current_lp;

std::uint64_t RandomU64() { return nw::rootsim::next(current_lp("RandomU64").generator); }

double Random() { return nw::rootsim::next_uniform(current_lp("Random").generator); }

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
