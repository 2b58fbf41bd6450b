// SPDX-License-Identifier: Apache-2.0
#include "util/digest.hpp"

#include <cstring>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nw {

namespace {

constexpr std::size_t pair_bytes = 16, longest_in_pairs = 96;

struct Pair {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};
static_assert(sizeof(Pair) == pair_bytes);

Pair pair_at(const std::byte* bytes, std::size_t count = pair_bytes) noexcept {
    Pair pair;
    std::memcpy(&pair, bytes, count);
    return pair;
}

}  // namespace

void Digest::append_payload(const std::byte* payload, std::size_t payload_bytes) noexcept {
    if (payload_bytes > longest_in_pairs) {
        const XXH128_hash_t hash = XXH3_128bits(payload, payload_bytes);
        append_pair(hash.low64, hash.high64);
        return;
    }
    // The copy stays in registers. *this would not, because `payload` could point to *this.
    Digest after = *this;
    for (; payload_bytes >= pair_bytes; payload += pair_bytes, payload_bytes -= pair_bytes) {
        const Pair pair = pair_at(payload);
        after.append_pair(pair.first, pair.second);
    }
    if (payload_bytes == 8) {  // frequent; a copy of constant size needs no call
        after.append_pair(pair_at(payload, 8).first, 0);
    } else if (payload_bytes != 0) {
        const Pair pair = pair_at(payload, payload_bytes);
        after.append_pair(pair.first, pair.second);
    }
    *this = after;
}

Digest Digest::term(LpId lp) const noexcept {
    const std::uint64_t words[3] = {high, low, index(lp)};
    const XXH128_hash_t hash = XXH3_128bits(words, sizeof words);
    return {hash.high64, hash.low64};
}

std::string Digest::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

}  // namespace nw
