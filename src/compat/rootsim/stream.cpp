// SPDX-License-Identifier: Apache-2.0
#include "compat/rootsim/stream.hpp"

#include <array>
#include <bit>
#include <cstddef>

namespace nw::rootsim {

constinit std::uint64_t master_seed = 0;

Generator stream_of(std::uint64_t lp, std::uint64_t seed) {
    using Words = std::array<std::uint32_t, 8>;
    constexpr std::array<std::uint32_t, 4> key{0xd0a8f58a, 0x33359424, 0x09baa55b, 0x80e1bdb0};
    constexpr std::uint32_t delta = 0x9e3779b9;
    // As in ROOT-Sim: two rounds more than XXTEA prescribes.
    constexpr std::uint32_t rounds = 8 + 50 / std::tuple_size_v<Words>;

    auto words = std::bit_cast<Words>(std::array{lp, seed, lp, seed});
    std::uint32_t before = words.back();
    for (std::uint32_t round = 1; round <= rounds; ++round) {
        const std::uint32_t sum = round * delta;
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint32_t after = words[(i + 1) % words.size()];
            const std::uint32_t mixed =
                ((before >> 5) ^ (after << 2)) + ((after >> 3) ^ (before << 4));
            const std::uint32_t keyed = (sum ^ after) + (key[(i ^ (sum >> 2)) & 3] ^ before);
            before = words[i] += mixed ^ keyed;
        }
    }
    return std::bit_cast<Generator>(words);
}

}  // namespace nw::rootsim
