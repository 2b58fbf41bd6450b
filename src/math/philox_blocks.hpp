// The next blocks of random numbers of eight LPs, made together: a block of one LP is a chain of 30 dependent operations, and
// the chains of eight LPs fill the vector units side by side. Each block is the one that Random makes alone (numawarp/random.hpp).
//
// Thread: any, each with its own PhiloxBlocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nw {

struct PhiloxBlocks {
    static constexpr std::size_t width = 8;

    // In.
    alignas(64) std::uint64_t counter[width];
    std::uint32_t stream[width];
    // Out: the first and the second draw of a block.
    alignas(64) std::uint64_t first[width];
    std::uint64_t second[width];
};

enum class PhiloxVectors : std::uint8_t { none, sse2, avx2 };

// The vectors of this processor, the fastest last.
std::vector<PhiloxVectors> philox_vectors();

// make(blocks, seed) fills in `first` and `second`.
using MakePhiloxBlocks = void (*)(PhiloxBlocks& blocks, std::uint64_t seed);
// With these vectors. Requires: one of philox_vectors().
MakePhiloxBlocks philox_maker(PhiloxVectors vectors) noexcept;
// With the fastest, or with what force_philox_vectors() has chosen.
MakePhiloxBlocks philox_maker() noexcept;

// For tests: engines that are made later use these. Requires: no engine runs.
void force_philox_vectors(PhiloxVectors vectors) noexcept;

}  // namespace nw
