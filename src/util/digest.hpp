// SPDX-License-Identifier: Apache-2.0
// The digest of a run. Tests use the digest as their oracle. Each LP has a running hash over its
// committed events, in the order of the events; the digest is the sum of these hashes over all LPs.
// The digest is equal for equal model, seed and end time, with every engine and any number of
// workers and ranks.
//
// Chain of an LP: `high` and `low` begin with 0. Each event appends pairs of 64-bit words, namely
// (time, shape), and one pair for each 16 bytes of its payload. The shape contains the size and the
// type. The last 16 bytes are filled up with zeros. If the payload has more than 96 bytes, the
// event appends the XXH3-128 hash (xxHash library) of the payload instead of the payload, because
// XXH3 hashes long inputs faster. The hash of a pair is the 128-bit product of (low ^ first ^
// key_1) and (high ^ second ^ key_2). The new `high` is `low` XOR the upper half of the product.
// The new `low` is `high` XOR the lower half. Hash functions of the wyhash family (Wang Yi, 2019)
// use such products, too. The digest detects accidental differences, and gives no protection
// against deliberate differences.
//
// The LP's term in the sum is a hash of `high`, `low` and the LP's id, so that the digest changes
// if two LPs exchange their histories. The sum is modulo 2^128, so the order of the LPs does not
// matter.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
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
        append_pair(std::bit_cast<std::uint64_t>(time), (payload_bytes << 16) | type);
        if (payload_bytes != 0) append_payload(payload, payload_bytes);
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
    void append_pair(std::uint64_t first, std::uint64_t second) noexcept {
        __extension__ using Wide = unsigned __int128;
        // The first 64 fractional bits of the square roots of 2 and 3.
        constexpr std::uint64_t key_1 = 0x6a09e667f3bcc908, key_2 = 0xbb67ae8584caa73b;
        const Wide product = static_cast<Wide>(low ^ first ^ key_1) * (high ^ second ^ key_2);
        const std::uint64_t before = low;
        low = high ^ static_cast<std::uint64_t>(product);
        high = before ^ static_cast<std::uint64_t>(product >> 64);
    }
    void append_payload(const std::byte* payload, std::size_t payload_bytes) noexcept;
};

}  // namespace nw
