// The oracle: per LP a running hash over its committed events in order, over all LPs a sum.
// Equal for equal model, seed and end time on every engine, number of workers and ranks.
//
// Chain: h' = XXH3-128(h, time, type, payload), starting from 0. XXH3 is the hash
// function of the xxHash library. The final term of an LP also hashes the LP's id, so that two LPs
// that swap histories do not go unnoticed; a sum modulo 2^128 combines the LPs in any order.
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

    // XXH3-128 of the four words (high, low, time, shape) in registers. The steps are those that xxHash's specification gives
    // for inputs of 17 to 128 bytes (XXH3, "medium inputs"), with the default secret and no seed.
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
