// SPDX-License-Identifier: Apache-2.0
// An event or anti-message between workers, in a mail ring, a bottom half or a batch for another
// rank. The layout is fixed, so that the same bytes are used in memory and in the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "event/event_header.hpp"

namespace nw {

enum class WireKind : std::uint8_t { event, anti_message };

// Followed by payload_bytes of payload, padded to a multiple of 8 bytes. An anti-message has no
// payload.
struct WireEvent : EventHeader {
    std::uint32_t epoch;  // the sender's GVT epoch at the send; conservative engine: the window
    WireKind kind;
    bool is_irrevocable;  // no anti-message will follow: the sender will not be rolled back
    std::uint8_t reserved[2];

    const std::byte* payload() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }

    static constexpr std::size_t padded(std::size_t payload_bytes) noexcept {
        return (payload_bytes + 7) & ~std::size_t{7};
    }
    std::size_t bytes() const noexcept { return sizeof(WireEvent) + padded(payload_bytes); }
};

static_assert(sizeof(WireEvent) == 40);
static_assert(std::is_trivially_copyable_v<WireEvent>);

// Returns the epoch of a batch for another rank. All events of a batch have one epoch, because the
// cut that closes an epoch sends all batches.
inline std::uint32_t epoch_of_batch(const std::byte* bytes) noexcept {
    return reinterpret_cast<const WireEvent*>(bytes)->epoch;
}

// Calls visit(const WireEvent&) for each event in [bytes, bytes + size).
template <class Visit>
void for_each_wire_event(const std::byte* bytes, std::size_t size, Visit&& visit) {
    for (const std::byte* at = bytes; at < bytes + size;) {
        const auto& wire = *reinterpret_cast<const WireEvent*>(at);
        at += wire.bytes();
        visit(wire);
    }
}

}  // namespace nw
