// SPDX-License-Identifier: Apache-2.0
// The digest of a run, which tests use as their oracle: a running hash over the committed events of
// each LP, in their order, and the sum of these hashes over all LPs. It is equal for equal model,
// seed and end time, with every engine and any number of workers and ranks.
//
// Chain of an LP: h' = XXH3-128(h, time, payload size and type, payload), starting from 0. If the
// payload has more than 96 bytes, the hash of the payload takes its place. XXH3 is a hash function
// of the xxHash library. The LP's term in the sum also hashes the LP's id, so that the digest
// changes if two LPs exchange their histories. The sum is modulo 2^128, so the order of the LPs
// does not matter.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw {

struct Digest {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    // Appends one committed event of an LP to the LP's chain.
    void append(VirtualTime time, EventType type, const std::byte* payload,
                std::size_t payload_bytes) noexcept {
        if (payload_bytes == 0)
            append_bare(std::bit_cast<std::uint64_t>(time), type);
        else
            append_with_payload(time, type, payload, payload_bytes);
    }

    // This LP's term in the sum over all LPs.
    Digest term(LpId lp) const noexcept;

    Digest& operator+=(const Digest& other) noexcept {
        low += other.low;
        high += other.high + (low < other.low ? 1 : 0);
        return *this;
    }
    friend bool operator==(const Digest&, const Digest&) = default;

    std::string hex() const;  // 32 hex digits

  private:
    void append_with_payload(VirtualTime time, EventType type, const std::byte* payload,
                             std::size_t payload_bytes) noexcept;

    // The XXH3-128 hash of the four words (high, low, time, shape), computed in registers. The
    // steps are those of xxHash's specification for inputs of 17 to 128 bytes (XXH3, "medium
    // inputs"), with the default secret and no seed.
    void append_bare(std::uint64_t time, std::uint64_t shape) noexcept {
        constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87, prime_2 = 0xC2B2AE3D27D4EB4F,
                                prime_4 = 0x85EBCA77C2B2AE63, message_bytes = 32;
        // The first 32 bytes of the default secret.
        constexpr std::uint64_t secret[] = {0xbe4ba423396cfeb8, 0x1cad21f72c81017c,
                                            0xdb979083e96dd4de, 0x1f67b3b7a4a44072};
        const std::uint64_t sum_1 =
            (message_bytes * prime_1 + folded_product(high ^ secret[0], low ^ secret[1])) ^
            (time + shape);
        const std::uint64_t sum_2 =
            folded_product(time ^ secret[2], shape ^ secret[3]) ^ (high + low);
        low = avalanche(sum_1 + sum_2);
        high = 0 - avalanche(sum_1 * prime_1 + sum_2 * prime_4 + message_bytes * prime_2);
    }
    static std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
    static std::uint64_t avalanche(std::uint64_t hash) noexcept {
        hash ^= hash >> 37;
        hash *= 0x165667919E3779F9;
        return hash ^ (hash >> 32);
    }
};

}  // namespace nw
