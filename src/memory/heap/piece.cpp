// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/piece.hpp"

#include <array>
#include <cstring>

#include "util/meter_marks.hpp"

namespace nw {

bool is_zero(std::span<const std::byte> bytes) noexcept {
    static constexpr std::array<std::byte, page_bytes> zeros{};
    return std::memcmp(bytes.data(), zeros.data(), bytes.size()) == 0;
}

bool equals_piece(std::span<const std::byte> bytes, const Piece* piece) noexcept {
    if (piece == nullptr) return is_zero(bytes);
    return std::memcmp(bytes.data(), piece->content(), bytes.size()) == 0;
}

Piece* hold_piece(std::span<const std::byte> bytes, Piece* known, PlatformHeap& memory) {
    if (equals_piece(bytes, known)) {
        if (known != nullptr) ++known->holders;
        return known;
    }
    if (known != nullptr && is_zero(bytes)) return nullptr;
    auto* const piece = static_cast<Piece*>(memory.allocate(sizeof(Piece) + bytes.size()));
    meter_memory<MeterKind::snapshots>(piece, sizeof(Piece) + bytes.size());
    piece->holders = 1;
    std::memcpy(piece->content(), bytes.data(), bytes.size());
    return piece;
}

void release_piece(Piece* piece, std::size_t bytes, PlatformHeap& memory) noexcept {
    if (piece != nullptr && --piece->holders == 0) memory.free(piece, sizeof(Piece) + bytes);
}

void restore_piece(std::span<std::byte> bytes, const Piece* piece) noexcept {
    if (equals_piece(bytes, piece)) return;
    if (piece == nullptr)
        std::memset(bytes.data(), 0, bytes.size());
    else
        std::memcpy(bytes.data(), piece->content(), bytes.size());
}

}  // namespace nw
