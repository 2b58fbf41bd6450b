// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 in vectors of 64-bit lanes, for any vectors that a processor has.
//
// A lane contains one word of one block in its lower half. The upper half contains remains of
// products: the multiplication reads only the lower halves, and the last step drops the upper
// halves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/math/philox_blocks.hpp"

namespace nw {

// Vectors::Words is a vector of Vectors::lanes 64-bit numbers with the operators of g++'s vector
// extension. Vectors::multiply(a, b) returns the 64-bit products of the lower halves.
template <class Vectors>
inline void make_philox_blocks(PhiloxBlocks& blocks, std::uint64_t seed) noexcept {
    using Words = typename Vectors::Words;
    constexpr std::uint64_t lower_half = UINT32_MAX;
    // The constants of Random123's philox.h (Salmon, Moraes, Dror, Shaw, SC 2011).
    constexpr std::uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
    constexpr std::uint64_t key_step_0 = 0x9E3779B9, key_step_1 = 0xBB67AE85;
    constexpr int rounds = 10;
    for (std::size_t first = 0; first < PhiloxBlocks::width; first += Vectors::lanes) {
        Words word_0, word_2;
        for (std::size_t i = 0; i < Vectors::lanes; ++i) {
            word_0[i] = blocks.counter[first + i];
            word_2[i] = blocks.stream[first + i];
        }
        Words word_1 = word_0 >> 32, word_3 = {};
        Words key_0 = Words{} + (seed & lower_half), key_1 = Words{} + (seed >> 32);
        for (int round = 0; round < rounds; ++round) {
            const Words product_0 = Vectors::multiply(word_0, Words{} + multiplier_0);
            const Words product_1 = Vectors::multiply(word_2, Words{} + multiplier_1);
            word_0 = (product_1 >> 32) ^ word_1 ^ key_0;
            word_1 = product_1;
            word_2 = (product_0 >> 32) ^ word_3 ^ key_1;
            word_3 = product_0;
            key_0 += key_step_0;
            key_1 += key_step_1;
        }
        const Words draw_1 = (word_1 << 32) | (word_0 & lower_half);
        const Words draw_2 = (word_3 << 32) | (word_2 & lower_half);
        for (std::size_t i = 0; i < Vectors::lanes; ++i)
            blocks.block[first + i] = {draw_2[i], draw_1[i]};
    }
}

}  // namespace nw
