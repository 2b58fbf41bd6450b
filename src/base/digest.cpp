#include "base/digest.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nw {

void Digest::append(VirtualTime time, EventType type, const std::byte* payload,
                    std::size_t payload_bytes) noexcept {
    // The common short event is hashed in one go from the stack; a long payload is hashed on its own
    // and stands in the chain by its hash.
    constexpr std::size_t header_bytes = 32;
    constexpr std::size_t inline_bytes = 96;
    std::array<std::byte, header_bytes + inline_bytes> message;
    std::uint64_t time_bits;
    std::memcpy(&time_bits, &time, sizeof time_bits);
    const std::uint64_t shape = (std::uint64_t{payload_bytes} << 16) | type;
    const std::uint64_t header[4] = {high, low, time_bits, shape};
    std::memcpy(message.data(), header, header_bytes);
    std::size_t bytes = header_bytes;
    if (payload_bytes <= inline_bytes) {
        if (payload_bytes > 0) std::memcpy(message.data() + bytes, payload, payload_bytes);
        bytes += payload_bytes;
    } else {
        const XXH128_hash_t inner = XXH3_128bits(payload, payload_bytes);
        const std::uint64_t words[2] = {inner.high64, inner.low64};
        std::memcpy(message.data() + bytes, words, sizeof words);
        bytes += sizeof words;
    }
    const XXH128_hash_t hash = XXH3_128bits(message.data(), bytes);
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
