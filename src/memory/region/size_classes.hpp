// SPDX-License-Identifier: Apache-2.0
// The size classes of an LP's heap. Small chunks: multiples of 16 bytes up to 128, then four steps
// per doubling up to 8 KiB, in blocks of up to 64 chunks. Large chunks: four steps per doubling,
// one chunk per block.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nw {

inline constexpr std::size_t small_chunk_max = 8 * 1024;
inline constexpr std::size_t small_class_count = 32;
inline constexpr std::size_t chunk_alignment = 16;

// Rounds `bytes` up to one of four steps per doubling. Requires: bytes > 8.
constexpr std::size_t quarter_step_bytes(std::size_t bytes) noexcept {
    const unsigned step = static_cast<unsigned>(std::bit_width(bytes - 1)) - 3;
    return ((bytes - 1) >> step << step) + (std::size_t{1} << step);
}

// Requires: bytes <= small_chunk_max. Zero bytes also get a chunk.
constexpr std::size_t small_class_of(std::size_t bytes) noexcept {
    const std::size_t last = bytes - (bytes != 0 ? 1 : 0);
    if (last < 128) return last / 16;
    const unsigned top = static_cast<unsigned>(std::bit_width(last)) - 1;  // ≥ 7
    return 8 + (top - 7) * 4 + ((last >> (top - 2)) & 3);
}

constexpr std::size_t small_class_bytes(std::size_t small_class) noexcept {
    if (small_class < 8) return (small_class + 1) * 16;
    const std::size_t top = 7 + (small_class - 8) / 4;
    return (std::size_t{4} + (small_class - 8) % 4 + 1) << (top - 2);
}

struct SmallClass {
    std::uint32_t bytes;
    std::uint32_t reciprocal;  // (offset × reciprocal) >> 32 == offset / bytes for offset < 2^16
};

inline constexpr std::array<SmallClass, small_class_count> small_classes = [] {
    std::array<SmallClass, small_class_count> table{};
    for (std::size_t c = 0; c < small_class_count; ++c) {
        const std::uint64_t bytes = small_class_bytes(c);
        table[c] = {static_cast<std::uint32_t>(bytes),
                    static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + bytes - 1) / bytes)};
    }
    return table;
}();

static_assert(small_class_bytes(small_class_count - 1) == small_chunk_max);
static_assert(small_class_of(small_chunk_max) == small_class_count - 1);

}  // namespace nw
