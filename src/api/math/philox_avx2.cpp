// SPDX-License-Identifier: Apache-2.0
// The only file that is compiled for AVX2. The program calls its function only on a processor that
// has AVX2. The file uses no inline function that other files share: the linker might keep the AVX2
// version of such a function for all files.
#include <immintrin.h>

#include "api/math/philox_lanes.hpp"

namespace nw {
namespace {

struct Avx2 {
    static constexpr std::size_t lanes = 4;
    typedef std::uint64_t Words __attribute__((vector_size(32)));
    static Words multiply(Words a, Words b) noexcept {
        return reinterpret_cast<Words>(
            _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
    }
};

}  // namespace

void make_philox_blocks_avx2(PhiloxBlocks& blocks, std::uint64_t seed) {
    make_philox_blocks<Avx2>(blocks, seed);
}

}  // namespace nw
