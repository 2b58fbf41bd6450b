// SPDX-License-Identifier: Apache-2.0
#include "util/digest.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nw {

namespace {

constexpr std::size_t header_bytes = 32;
constexpr std::size_t inline_bytes = 96;

// Hashes the header and the `content_bytes` bytes of the content. If content_bytes is a constant,
// the compiler keeps only the part of XXH3 that this length needs.
[[gnu::always_inline]] inline XXH128_hash_t hash_of_message(const std::uint64_t (&header)[4],
                                                            const void* content,
                                                            std::size_t content_bytes) noexcept {
    std::array<std::byte, header_bytes + inline_bytes> message;
    std::memcpy(message.data(), header, header_bytes);
    std::memcpy(message.data() + header_bytes, content, content_bytes);
    return XXH3_128bits(message.data(), header_bytes + content_bytes);
}

// A payload of at most inline_bytes bytes is hashed together with the header. A longer payload is
// hashed first, and its hash takes its place.
XXH128_hash_t hash_of(const std::uint64_t (&header)[4], const std::byte* payload,
                      std::size_t payload_bytes) noexcept {
    switch (payload_bytes) {
        case 8:
            return hash_of_message(header, payload, 8);
        case 16:
            return hash_of_message(header, payload, 16);
        case 24:
            return hash_of_message(header, payload, 24);
        case 32:
            return hash_of_message(header, payload, 32);
        case 40:
            return hash_of_message(header, payload, 40);
        case 48:
            return hash_of_message(header, payload, 48);
        case 56:
            return hash_of_message(header, payload, 56);
        default:
            break;
    }
    if (payload_bytes <= inline_bytes) return hash_of_message(header, payload, payload_bytes);
    const XXH128_hash_t inner = XXH3_128bits(payload, payload_bytes);
    const std::uint64_t words[2] = {inner.high64, inner.low64};
    return hash_of_message(header, words, sizeof words);
}

}  // namespace

void Digest::append_with_payload(VirtualTime time, EventType type, const std::byte* payload,
                                 std::size_t payload_bytes) noexcept {
    const std::uint64_t shape = (std::uint64_t{payload_bytes} << 16) | type;
    const std::uint64_t header[4] = {high, low, std::bit_cast<std::uint64_t>(time), shape};
    const XXH128_hash_t hash = hash_of(header, payload, payload_bytes);
    high = hash.high64;
    low = hash.low64;
}

Digest Digest::term(LpId lp) const noexcept {
    const std::uint64_t words[3] = {high, low, index(lp)};
    const XXH128_hash_t hash = XXH3_128bits(words, sizeof words);
    return {hash.high64, hash.low64};
}

std::string Digest::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

}  // namespace nw
