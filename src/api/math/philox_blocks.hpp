// SPDX-License-Identifier: Apache-2.0
// Computes the next blocks of random numbers of eight LPs together. A block of one LP is a chain of
// 30 dependent operations; the vector units execute the chains of eight LPs in parallel. Each block
// is equal to the block that Random computes for one LP (numawarp/random.hpp).
//
// Thread: any, each with its own PhiloxBlocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nw {

struct PhiloxBlocks {
    static constexpr std::size_t width = 8;

    // The first `width` elements of `counter` are inputs. EventPrefetcher sets the last element to
    // a counter that no LP reaches, so that a search always ends there.
    alignas(64) std::uint64_t counter[width + 1];
    std::uint32_t stream[width];
    // Output: the second and the first draw, as in Random::Block.
    alignas(64) std::array<std::uint64_t, 2> block[width];
};

enum class PhiloxVectors : std::uint8_t { none, sse2, avx2 };

// The vectors that this processor has, the fastest last.
std::vector<PhiloxVectors> philox_vectors();

// make(blocks, seed) fills in `block`.
using MakePhiloxBlocks = void (*)(PhiloxBlocks& blocks, std::uint64_t seed);
// Returns the function that uses these vectors. Requires: philox_vectors() contains `vectors`.
MakePhiloxBlocks philox_maker(PhiloxVectors vectors) noexcept;
// Returns the function for the fastest vectors, or for the vectors that force_philox_vectors() has
// set.
MakePhiloxBlocks philox_maker() noexcept;

// For tests: engines that are constructed later use these vectors. Requires: no engine is running.
void force_philox_vectors(PhiloxVectors vectors) noexcept;

}  // namespace nw
