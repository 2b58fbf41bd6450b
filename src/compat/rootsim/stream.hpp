// SPDX-License-Identifier: Apache-2.0
// The generator of ROOT-Sim's random numbers, xoshiro256** (Blackman, Vigna: "Scrambled linear
// pseudorandom number generators", 2021), and its first states. The functions that draw from the
// generator are in other files, because a model may define its own functions with the same names.
#pragma once

#include <bit>
#include <cstdint>

#include "compat/rootsim/lp.hpp"

namespace nw::rootsim {

// The first state of an LP's generator: the LP's number and the seed, encrypted by XXTEA (Wheeler,
// Needham: "Correction to XTEA", 1998) with ROOT-Sim's key.
Generator stream_of(std::uint64_t lp, std::uint64_t seed);

// The seed of the run, for streams that a model initializes itself. Written before handlers run.
extern constinit std::uint64_t master_seed;

inline std::uint64_t next(Generator& s) noexcept {
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

// Uniform in [0, 1). The number of leading zero bits determines the exponent. The 52 bits after the
// first bit that is set are the fraction. So small results are as dense as doubles are.
inline double next_uniform(Generator& generator) noexcept {
    const std::uint64_t bits = next(generator);
    if (bits == 0) return 0;
    const auto zeros = static_cast<unsigned>(std::countl_zero(bits));
    const std::uint64_t fraction = bits << zeros << 1 >> 12;
    return std::bit_cast<double>(fraction | std::uint64_t{1022 - zeros} << 52);
}

}  // namespace nw::rootsim
