// SPDX-License-Identifier: Apache-2.0
#include "api/math/philox_blocks.hpp"

#include <numawarp/random.hpp>

#include "api/math/philox_lanes.hpp"
#include "util/check.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace nw {

void make_philox_blocks_avx2(PhiloxBlocks& blocks, std::uint64_t seed);  // philox_avx2.cpp

namespace {

void make_one_by_one(PhiloxBlocks& blocks, std::uint64_t seed) {
    for (std::size_t i = 0; i < PhiloxBlocks::width; ++i) {
        Random random(seed, blocks.stream[i], blocks.counter[i]);
        const std::uint64_t first = random.bits();
        blocks.block[i] = {random.bits(), first};
    }
}

#if defined(__x86_64__)

// Every x86-64 processor has SSE2.
struct Sse2 {
    static constexpr std::size_t lanes = 2;
    typedef std::uint64_t Words __attribute__((vector_size(16)));
    static Words multiply(Words a, Words b) noexcept {
        return reinterpret_cast<Words>(
            _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
    }
};

void make_sse2(PhiloxBlocks& blocks, std::uint64_t seed) { make_philox_blocks<Sse2>(blocks, seed); }

#endif

MakePhiloxBlocks chosen = nullptr;  // null: the fastest

}  // namespace

std::vector<PhiloxVectors> philox_vectors() {
    std::vector<PhiloxVectors> vectors{PhiloxVectors::none};
#if defined(__x86_64__)
    vectors.push_back(PhiloxVectors::sse2);
    if (__builtin_cpu_supports("avx2")) vectors.push_back(PhiloxVectors::avx2);
#endif
    return vectors;
}

MakePhiloxBlocks philox_maker(PhiloxVectors vectors) noexcept {
    switch (vectors) {
        case PhiloxVectors::none:
            return make_one_by_one;
#if defined(__x86_64__)
        case PhiloxVectors::sse2:
            return make_sse2;
        case PhiloxVectors::avx2:
            return make_philox_blocks_avx2;
#endif
        default:
            check_failed("this processor does not support these vectors", __FILE__, __LINE__);
    }
}

MakePhiloxBlocks philox_maker() noexcept {
    return chosen != nullptr ? chosen : philox_maker(philox_vectors().back());
}

void force_philox_vectors(PhiloxVectors vectors) noexcept { chosen = philox_maker(vectors); }

}  // namespace nw
