// The oracle: per LP a running hash over its committed events in order, over all LPs a sum.
// Equal for equal model, seed and end time on every engine, number of workers and ranks.
//
// Chain: h' = XXH3-128(h, time, type, payload), starting from 0. XXH3 is the hash
// function of the xxHash library. The final term of an LP also hashes the LP's id, so that two LPs
// that swap histories do not go unnoticed; a sum modulo 2^128 combines the LPs in any order.
#pragma once

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
                std::size_t payload_bytes) noexcept;

    // This LP's term in the sum over all LPs.
    Digest term(LpId lp) const noexcept;

    Digest& operator+=(const Digest& other) noexcept {
        low += other.low;
        high += other.high + (low < other.low ? 1 : 0);
        return *this;
    }
    friend bool operator==(const Digest&, const Digest&) = default;

    std::string hex() const;  // 32 hex digits
};

}  // namespace nw
