// SPDX-License-Identifier: Apache-2.0
// Snapshots store large chunks in pieces of a page. Consecutive snapshots of an LP share a piece if
// its bytes have not changed. So a large state that changes little is saved by comparison with the
// previous snapshot. Pieces that are unchanged, that contain only zeros or that were never touched
// are not copied.
//
// The pieces lie in platform memory. Thread: the owner of the group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/heap/platform_heap.hpp"

namespace nw {

// The header of a piece; the bytes follow it. A null pointer represents a piece of zeros.
struct alignas(16) Piece {
    std::uint64_t holders;

    std::byte* content() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* content() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }
};

// A piece and its header fill exactly one page, because the platform heap would round up other
// sizes.
inline constexpr std::size_t piece_bytes_max = page_bytes - sizeof(Piece);

constexpr std::size_t piece_count(std::size_t chunk_bytes) noexcept {
    return (chunk_bytes + piece_bytes_max - 1) / piece_bytes_max;
}

// The i-th piece of a chunk.
template <class Byte>
std::span<Byte> piece_of(std::span<Byte> chunk, std::size_t i) noexcept {
    const std::size_t begin = i * piece_bytes_max;
    return chunk.subspan(begin, std::min(piece_bytes_max, chunk.size() - begin));
}

// Requires: bytes.size() ≤ page_bytes.
bool is_zero(std::span<const std::byte> bytes) noexcept;

// Returns a piece with these bytes: null if all bytes are zero, `known` if its bytes are equal,
// else a new piece.
// Requires: `known` is null or as long as `bytes`. Throws PlatformOutOfMemory.
Piece* hold_piece(std::span<const std::byte> bytes, Piece* known, PlatformHeap& memory);
// `bytes` is the length that was passed to hold_piece().
void release_piece(Piece* piece, std::size_t bytes, PlatformHeap& memory) noexcept;

bool equals_piece(std::span<const std::byte> bytes, const Piece* piece) noexcept;
// Does not write if the bytes are already equal.
void restore_piece(std::span<std::byte> bytes, const Piece* piece) noexcept;

}  // namespace nw
