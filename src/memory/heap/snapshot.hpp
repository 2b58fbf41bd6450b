// SPDX-License-Identifier: Apache-2.0
// The bytes of one LP's state at one moment: which chunks were in use, and their contents. A
// snapshot is one contiguous buffer of platform memory. Only the pieces of large chunks are outside
// of this buffer, because snapshots of the LP share pieces (piece.hpp). LpHeap takes, restores and
// drops snapshots.
//
//     Snapshot | blocks in use of each bin (32 bit, padded to 8 bytes)
//              | per bin, per block: free mask, the chunks in use
//              | per large block in use: LargeImage, its pieces
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/heap/piece.hpp"

namespace nw {

struct Snapshot {
    std::uint64_t bytes;  // of the whole buffer
    std::uint64_t large_offset;
    std::uint64_t used_units;  // in small chunks; a unit has 16 bytes
    std::uint32_t large_count;
    std::uint32_t bin_count;

    struct LargeImage {
        std::uint64_t index;
        std::uint64_t bytes;

        static constexpr std::size_t image_bytes(std::size_t chunk_bytes) noexcept {
            return sizeof(LargeImage) + piece_count(chunk_bytes) * sizeof(Piece*);
        }
        Piece** pieces() noexcept { return reinterpret_cast<Piece**>(this + 1); }
        const Piece* const* pieces() const noexcept {
            return reinterpret_cast<const Piece* const*>(this + 1);
        }
        LargeImage* next() noexcept {
            return reinterpret_cast<LargeImage*>(pieces() + piece_count(bytes));
        }
        const LargeImage* next() const noexcept {
            return reinterpret_cast<const LargeImage*>(pieces() + piece_count(bytes));
        }
    };

    // The first of `large_count` images, in the order of their blocks' indices.
    LargeImage* large() noexcept {
        return reinterpret_cast<LargeImage*>(reinterpret_cast<std::byte*>(this) + large_offset);
    }
    const LargeImage* large() const noexcept {
        return reinterpret_cast<const LargeImage*>(reinterpret_cast<const std::byte*>(this) +
                                                   large_offset);
    }
};

}  // namespace nw
