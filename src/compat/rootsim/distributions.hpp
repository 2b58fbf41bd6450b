// SPDX-License-Identifier: Apache-2.0
// ROOT-Sim's distributions. If the draws of the generator are equal to those of ROOT-Sim, the
// results are equal, too. The logarithms are those of the C library, as in ROOT-Sim, so that both
// give equal numbers on the same machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "compat/rootsim/lp.hpp"
#include "compat/rootsim/stream.hpp"

namespace nw::rootsim {

// Exponential with mean 1.
inline double draw_exponential(Generator& from) { return -std::log(1 - next_uniform(from)); }

// Marsaglia's polar method. The second number of a pair is not kept.
inline double draw_normal(Generator& from) {
    for (;;) {
        const double x = 2 * next_uniform(from) - 1;
        const double y = 2 * next_uniform(from) - 1;
        const double square = x * x + y * y;
        if (square < 1 && square != 0) return x * std::sqrt(-2 * std::log(square) / square);
    }
}

// An integer from min to max, including both.
inline int draw_range(Generator& from, int min, int max) {
    return static_cast<int>(std::floor(next_uniform(from) * (1.0 + max - min)) + min);
}

inline int draw_range_non_uniform(Generator& from, int x, int min, int max) {
    const int first = draw_range(from, 0, x);
    return (first | draw_range(from, min, max)) % (max - min + 1) + min;
}

// Gamma of an order from 2 on, by rejection. A random point of the half disk gives the tangent of
// an angle. `uniform` returns numbers in [0, 1).
template <class Uniform>
double draw_gamma_by_rejection(unsigned order, Uniform uniform) {
    const double mode = order - 1;
    const double width = std::sqrt(2 * mode + 1);
    for (;;) {
        double x = 0;
        double y = 0;
        do {
            x = uniform();
            y = 2 * uniform() - 1;
        } while (x * x + y * y > 1);
        const double tangent = y / x;
        const double offset = width * tangent;
        const double value = offset + mode;
        if (value >= 0 &&
            uniform() <= (1 + tangent * tangent) * std::exp(mode * std::log(value / mode) - offset))
            return value;
    }
}

// As in ROOT-Sim, order 0 gives the numbers of order 1.
inline double draw_gamma(Generator& from, unsigned order) {
    if (order < 6) {
        double product = 1;
        for (unsigned i = 0; i < std::max(order, 1U); ++i) product *= 1 - next_uniform(from);
        return -std::log(product);
    }
    return draw_gamma_by_rejection(order, [&] { return next_uniform(from); });
}

// Refuses parameters for which there is no distribution: the rejection would not end.
inline void demand_zipf(bool exists, double skew, std::int64_t limit) {
    if (!exists)
        refuse_call(
            fmt::format("Zipf(): no distribution with skew {} and limit {}; allowed: a skew above "
                        "1, a limit of at least 1",
                        skew, limit));
}

inline unsigned draw_zipf(Generator& from, double skew, unsigned limit) {
    demand_zipf(skew > 0 && limit > 0, skew, limit);
    const double b = std::pow(2, skew - 1);
    for (;;) {
        const double x = std::floor(std::pow(next_uniform(from), -1 / skew - 1));
        if (x > limit) continue;
        const double t = std::pow(1 + 1 / x, skew - 1);
        if (next_uniform(from) * x * (t - 1) * b <= t * (b - 1)) return static_cast<unsigned>(x);
    }
}

}  // namespace nw::rootsim
