// An event or anti-message on its way between workers: what a bottom half holds and a batch between
// ranks carries. The layout is fixed, so that the same bytes go through memory and network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "event/event_header.hpp"

namespace nw {

enum class WireKind : std::uint8_t { event, anti_message };

// payload_bytes of payload follow, padded to 8; an anti-message has none.
struct WireEvent : EventHeader {
    std::uint32_t epoch;  // the sender's GVT epoch, or its window, when it was sent
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

// Of a batch for another rank: all in it were sent in one epoch, since the cut that closes it sends off what waits.
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
