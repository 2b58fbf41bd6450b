// SPDX-License-Identifier: Apache-2.0
// CLCG4, a combination of four linear congruential generators (L'Ecuyer and Andres: "A random
// number generator based on the combination of four LCGs", 1997), with the seeds, streams and
// distributions of ROSS. All results are equal to those of ROSS to the bit. For this reason the
// logarithms and powers are those of the C library.
#include <ross.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "program_state.hpp"

namespace {

constexpr int generators = 4;
constexpr std::array<std::uint64_t, generators> modulus{2147483647, 2147483543, 2147483423,
                                                        2147483323};
constexpr std::array<std::uint64_t, generators> multiplier{45991, 207707, 138556, 49689};
constexpr std::array<std::int32_t, generators> standard_seed{11111111, 22222222, 33333333,
                                                             44444444};

// Consecutive streams start 2^(v+w) draws apart.
constexpr int v = 31, w = 41;

constexpr std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulo) {
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result = result * base % modulo;
        base = base * base % modulo;
    }
    return result;
}

constexpr std::array<std::uint64_t, generators> inverses() {
    std::array<std::uint64_t, generators> result{};
    for (std::size_t j = 0; j < generators; ++j)
        result[j] = power(multiplier[j], modulus[j] - 2, modulus[j]);
    return result;
}

constexpr std::array<std::uint64_t, generators> jumps() {
    std::array<std::uint64_t, generators> result = multiplier;
    for (std::size_t j = 0; j < generators; ++j)
        for (int i = 0; i < v + w; ++i) result[j] = result[j] * result[j] % modulus[j];
    return result;
}

constexpr auto inverse = inverses();
constexpr auto jump = jumps();

template <std::size_t J>
inline std::int32_t moved(std::int32_t state, std::uint64_t by) {
    return static_cast<std::int32_t>(by * static_cast<std::uint64_t>(state) % modulus[J]);
}

// The sum of the four scaled states, with alternating signs, modulo 1.
inline double combined(const std::int32_t* s) {
    double u = 4.65661287524579692e-10 * s[0];
    u -= 4.65661310075985993e-10 * s[1];
    if (u < 0) u += 1.0;
    u += 4.65661336096842131e-10 * s[2];
    if (u >= 1.0) u -= 1.0;
    u -= 4.65661357780891134e-10 * s[3];
    if (u < 0) u += 1.0;
    return u;
}

inline double step(tw_rng_stream& g, const std::array<std::uint64_t, generators>& by) {
    g.Cg[0] = moved<0>(g.Cg[0], by[0]);
    g.Cg[1] = moved<1>(g.Cg[1], by[1]);
    g.Cg[2] = moved<2>(g.Cg[2], by[2]);
    g.Cg[3] = moved<3>(g.Cg[3], by[3]);
    return combined(g.Cg);
}

std::int32_t valid_seed(std::uint32_t seed, std::size_t j) {
    return static_cast<std::int32_t>(std::clamp<std::uint64_t>(seed, 1, modulus[j] - 1));
}

}  // namespace

double rng_gen_val(tw_rng_stream* g) {
    ++g->count;
    return step(*g, multiplier);
}

double rng_gen_reverse_val(tw_rng_stream* g) {
    --g->count;
    return step(*g, inverse);
}

void rng_set_seed(tw_rng_stream* g, std::uint32_t* s, tw_rng*) {
    for (std::size_t j = 0; j < generators; ++j) g->Cg[j] = g->Ig[j] = valid_seed(s[j], j);
}

void rng_get_state(tw_rng_stream* g, std::uint32_t* s) { std::copy_n(g->Cg, generators, s); }

void rng_put_state(tw_rng_stream* g, std::uint32_t* s) { std::copy_n(s, generators, g->Cg); }

void rng_write_state(tw_rng_stream* g, FILE* f) {
    for (const std::int32_t state : g->Cg) std::fprintf(f, "%d ", state);
    std::fputc('\n', f);
}

void tw_rand_initial_seed(tw_rng_stream* g, tw_lpid id, tw_rng*) {
    *g = {};
    for (std::size_t j = 0; j < generators; ++j) {
        const std::int32_t* const given = g_tw_rng_seed;
        const std::int32_t first = given == nullptr
                                       ? standard_seed[j]
                                       : valid_seed(static_cast<std::uint32_t>(given[j]), j);
        g->Cg[j] = g->Ig[j] = static_cast<std::int32_t>(
            power(jump[j], id, modulus[j]) * static_cast<std::uint64_t>(first) % modulus[j]);
    }
}

long tw_rand_integer(tw_rng_stream* g, long low, long high) {
    const long beyond = high == LONG_MAX ? high : high + 1;
    if (beyond <= low) return 0;
    return low + static_cast<long>(rng_gen_val(g) * static_cast<double>(beyond - low));
}

unsigned long tw_rand_ulong(tw_rng_stream* g, unsigned long low, unsigned long high) {
    const unsigned long beyond = high == ULONG_MAX ? high : high + 1;
    if (beyond < low) return 0;
    return low + static_cast<unsigned long>(rng_gen_val(g) * static_cast<double>(beyond - low));
}

long tw_rand_binomial(tw_rng_stream* g, long trials, double probability) {
    long successes = 0;
    for (long i = 0; i < trials; ++i) successes += rng_gen_val(g) <= probability ? 1 : 0;
    return successes;
}

double tw_rand_exponential(tw_rng_stream* g, double mean) {
    return -mean * std::log(rng_gen_val(g));
}

double tw_rand_pareto(tw_rng_stream* g, double shape, double scale) {
    return scale * 1.0 / std::pow(rng_gen_val(g), 1 / shape);
}

// Shapes above 1: the algorithm of Cheng (1977). Shapes below 1: Ahrens and Dieter (1974).
double tw_rand_gamma(tw_rng_stream* g, double shape, double scale) {
    if (shape == 1) return tw_rand_exponential(g, scale);
    if (shape > 1) {
        const double a = 1 / std::sqrt(2 * shape - 1);
        const double b = shape - std::log(4);
        const double q = shape + 1 / a;
        const double phi = 4.5;
        const double d = 1 + std::log(phi);
        for (;;) {
            const double u1 = rng_gen_val(g);
            const double u2 = rng_gen_val(g);
            const double logit = a * std::log(u1 / (1 - u1));
            const double y = shape * std::exp(logit);
            const double z = u1 * u1 * u2;
            const double r = b + q * logit - y;
            if (r + d - phi * z >= 0 || r >= std::log(z)) return scale * y;
        }
    }
    const double b = (std::exp(1) + shape) / std::exp(1);
    for (;;) {
        const double p = b * rng_gen_val(g);
        const double y = p <= 1 ? std::pow(p, 1 / shape) : -std::log((b - p) / shape);
        const double u = rng_gen_val(g);
        if (u <= (p <= 1 ? std::exp(-y) : std::pow(y, shape - 1))) return scale * y;
    }
}

long tw_rand_geometric(tw_rng_stream* g, double probability) {
    int count = 1;
    while (rng_gen_val(g) > probability) ++count;
    return count;
}

// Box and Muller (1958): two draws give two variates. The second is kept for the next call.
double tw_rand_normal01(tw_rng_stream* g, unsigned int* rng_calls) {
    *rng_calls = 0;
    g->tw_normal_flipflop = !g->tw_normal_flipflop;
    const bool is_kept = !g->tw_normal_flipflop && g->tw_normal_u1 >= 0 && g->tw_normal_u1 < 1 &&
                         g->tw_normal_u2 >= 0 && g->tw_normal_u2 <= 1;
    if (!is_kept) {
        g->tw_normal_u1 = rng_gen_val(g);
        g->tw_normal_u2 = rng_gen_val(g);
        *rng_calls = 2;
    }
    const double radius = std::sqrt(-2.0 * std::log(g->tw_normal_u1));
    const double angle = tw_opi * g->tw_normal_u2;
    return radius * (is_kept ? std::cos(angle) : std::sin(angle));
}

double tw_rand_normal_sd(tw_rng_stream* g, double mean, double deviation, unsigned int* rng_calls) {
    return mean + tw_rand_normal01(g, rng_calls) * deviation;
}

double tw_rand_lognormal(tw_rng_stream* g, double mean, double deviation, unsigned int* rng_calls) {
    return std::exp(mean + deviation * tw_rand_normal01(g, rng_calls));
}

long tw_rand_poisson(tw_rng_stream* g, double mean) {
    const double least = std::exp(-mean);
    long count = 0;
    for (double product = rng_gen_val(g); product >= least; product *= rng_gen_val(g)) ++count;
    return count;
}

double tw_rand_weibull(tw_rng_stream* g, double mean, double shape) {
    const double scale = mean / std::tgamma(1.0 + 1.0 / shape);
    return scale * std::pow(-std::log(rng_gen_val(g)), 1.0 / shape);
}
