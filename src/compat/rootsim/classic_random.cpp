// SPDX-License-Identifier: Apache-2.0
// Random numbers of classic ROOT-Sim (version 2): two multiply-with-carry generators of 32 bits
// (Marsaglia). If the draws are equal to those of ROOT-Sim, the numbers of each distribution are
// equal, too. The words of a Generator are: both generators; the second number of a normal pair;
// whether there is such a number; unused.
#include <bit>
#include <cmath>
#include <cstdint>

#include "compat/rootsim/classic.hpp"
#include "compat/rootsim/classic_include/ROOT-Sim.h"
#include "compat/rootsim/distributions.hpp"
#include "compat/rootsim/lp.hpp"

namespace nw::rootsim {
namespace {

// A generator whose state is a multiple of its modulus never leaves the multiples of the modulus.
// The complement replaces such a state.
std::uint32_t sound(std::uint32_t part, std::uint32_t modulus) noexcept {
    const std::uint32_t rest = part % modulus;
    return rest != 0 ? rest : ~part % modulus;
}

}  // namespace

// The master seed, rotated left by the LP's number modulo 64. LPs with equal numbers modulo 64
// therefore have equal streams. As in ROOT-Sim, the right shift copies the sign bit. Therefore
// other LPs can have equal streams, too, if the seed is 2^63 or larger.
Generator classic_stream_of(std::uint64_t lp, std::uint64_t seed) {
    const auto places = static_cast<int>(lp % 64);
    const auto low =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(seed) >> ((64 - places) % 64));
    const std::uint64_t shifted = seed << places | low;
    const std::uint64_t first = sound(static_cast<std::uint32_t>(shifted), 0x9068ffff);
    const std::uint64_t second = sound(static_cast<std::uint32_t>(shifted >> 32), 0x464fffff);
    return {second << 32 | first, 0, 0, 0};
}

}  // namespace nw::rootsim

double Random() {
    std::uint64_t& both = nw::rootsim::lp_in_handler("Random").generator[0];
    auto first = static_cast<std::uint32_t>(both);
    auto second = static_cast<std::uint32_t>(both >> 32);
    first = 36969 * (first & 0xffff) + (first >> 16);
    second = 18000 * (second & 0xffff) + (second >> 16);
    both = std::uint64_t{second} << 32 | first;
    const std::uint32_t mixed = (first << 16) + (first >> 16) + second;
    return (mixed + 1.0) * 2.328306435454494e-10;  // 1 / (2^32 + 2)
}

int RandomRange(int min, int max) {
    return static_cast<int>(std::floor(Random() * (1.0 + max - min)) + min);
}

int RandomRangeNonUniform(int x, int min, int max) {
    const int first = RandomRange(0, x);
    return (first | RandomRange(min, max)) % (max - min + 1) + min;
}

double Expent(double mean) {
    if (!(mean >= 0))
        nw::rootsim::refuse_call(
            fmt::format("Expent(): the mean is {}; allowed: at least 0", mean));
    return -mean * std::log(1 - Random());
}

// Marsaglia's polar method.
double Normal() {
    nw::rootsim::Generator& state = nw::rootsim::lp_in_handler("Normal").generator;
    if (state[2] != 0) {
        state[2] = 0;
        return std::bit_cast<double>(state[1]);
    }
    for (;;) {
        const double x = 2 * Random() - 1;
        const double y = 2 * Random() - 1;
        const double square = x * x + y * y;
        if (square >= 1 || square == 0) continue;
        const double scale = std::sqrt(-2 * std::log(square) / square);
        state[1] = std::bit_cast<std::uint64_t>(x * scale);
        state[2] = 1;
        return y * scale;
    }
}

double Gamma(int ia) {
    if (ia < 1) nw::rootsim::refuse_call("Gamma(): the order must be at least 1");
    if (ia < 6) {
        double product = 1;
        for (int i = 0; i < ia; ++i) product *= Random();
        return -std::log(product);
    }
    return nw::rootsim::draw_gamma_by_rejection(static_cast<unsigned>(ia), Random);
}

double Poisson() { return Gamma(1); }

int Zipf(double skew, int limit) {
    nw::rootsim::demand_zipf(skew > 0 && skew != 1 && limit > 0, skew, limit);
    const double b = std::pow(2, skew - 1);
    for (;;) {
        const double u = Random();
        const double v = Random();
        const double x = std::floor(std::pow(u, -1 / skew - 1));
        const double t = std::pow(1 + 1 / x, skew - 1);
        if (v * x * (t - 1) / (b - 1) <= t / b && x <= limit) return static_cast<int>(x);
    }
}
