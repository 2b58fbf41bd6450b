// What snapshots keep of large chunks: pieces of a page, each held by all snapshots of the LP in which these
// bytes are the same. So a state that is large and changes little is saved by comparison with the last
// saved one: of what has not changed, and of what is zero or was never touched, nothing is copied.
//
// Platform memory. Thread: the owner of the group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "numa/heap/platform_heap.hpp"

namespace nw {

// Its bytes follow. None at all, a null pointer, stands for zeros.
struct alignas(16) Piece {
    std::uint64_t holders;

    std::byte* content() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* content() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }
};

// With the head exactly a page: what is larger than 1 KiB is rounded up by the platform heap.
inline constexpr std::size_t piece_bytes_max = page_bytes - sizeof(Piece);

constexpr std::size_t piece_count(std::size_t chunk_bytes) noexcept {
    return (chunk_bytes + piece_bytes_max - 1) / piece_bytes_max;
}

// The part of a chunk that is its i-th piece.
template <class Byte>
std::span<Byte> piece_of(std::span<Byte> chunk, std::size_t i) noexcept {
    const std::size_t begin = i * piece_bytes_max;
    return chunk.subspan(begin, std::min(piece_bytes_max, chunk.size() - begin));
}

// Requires: bytes.size() ≤ page_bytes.
bool is_zero(std::span<const std::byte> bytes) noexcept;

// A piece with these bytes: `known` if they are its own, else a new one. Throws PlatformOutOfMemory.
// Requires: `known` is null or as long as `bytes`.
Piece* hold_piece(std::span<const std::byte> bytes, Piece* known, PlatformHeap& memory);
// `bytes` as for hold_piece().
void release_piece(Piece* piece, std::size_t bytes, PlatformHeap& memory) noexcept;

bool equals_piece(std::span<const std::byte> bytes, const Piece* piece) noexcept;
// Writes nothing where the bytes are the piece's already.
void restore_piece(std::span<std::byte> bytes, const Piece* piece) noexcept;

}  // namespace nw
