// An event or anti-event on its way between workers: what a bottom half holds and a batch between
// ranks carries. The layout is fixed, so that the same bytes go through memory and network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <numawarp/ids.hpp>

#include "event/event_key.hpp"

namespace nw {

enum class WireKind : std::uint8_t { event, anti_event };

struct WireEvent {
    VirtualTime time;
    std::uint32_t generation;
    std::uint32_t sender;
    std::uint32_t sequence;
    std::uint32_t serial;
    std::uint32_t target;
    EventType type;
    std::uint16_t payload_bytes;  // 0 for an anti-event
    std::uint32_t epoch;          // the sender's GVT epoch when it was sent
    WireKind kind;
    std::uint8_t reserved[3];
    // payload_bytes of payload follow, padded to 8

    EventKey key() const noexcept { return {time, generation, sender, sequence}; }
    const std::byte* payload() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }

    static constexpr std::size_t padded(std::size_t payload_bytes) noexcept {
        return (payload_bytes + 7) & ~std::size_t{7};
    }
    std::size_t bytes() const noexcept { return sizeof(WireEvent) + padded(payload_bytes); }
};

static_assert(sizeof(WireEvent) == 40);
static_assert(offsetof(WireEvent, generation) == 8 && offsetof(WireEvent, serial) == 20 &&
              offsetof(WireEvent, type) == 28 && offsetof(WireEvent, epoch) == 32);
static_assert(std::is_trivially_copyable_v<WireEvent>);

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
