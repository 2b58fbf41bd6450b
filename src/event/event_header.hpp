// SPDX-License-Identifier: Apache-2.0
// The common beginning of an event's record in a group's memory and of its bytes in mail. Both have
// the same layout, so that a copy converts one into the other.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <numawarp/ids.hpp>

#include "event/pending_entry.hpp"

namespace nw {

struct EventHeader {
    // Order: events are ordered by (time, generation, sender, sequence). The sequence is rolled
    // back with its sender. It is counted modulo 2^32. If an LP sends two events for the same time,
    // one before and one after its 2^32nd send, the two events are in the wrong order. The order is
    // the same on every engine.
    //
    // Identity: (sender, serial) matches an anti-message with its event. The serial is never rolled
    // back. It is counted modulo 2^32, too, but no LP sends 2^32 events between a send and its
    // cancellation.
    VirtualTime time;
    std::uint32_t generation;
    std::uint32_t sender;
    std::uint32_t sequence;
    std::uint32_t target;
    // These three fields are the word of a short event (pending_entry.hpp).
    std::uint16_t payload_bytes;
    EventType type;
    std::uint32_t serial;

    EventKey key() const noexcept { return {time, generation, sender, sequence}; }
    EventBound bound() const noexcept { return {time, generation}; }
    // The first bytes, in which a header is equal to its EventKey.
    static constexpr std::size_t key_bytes = 20;
};

static_assert(sizeof(EventHeader) == 32 && std::is_trivially_copyable_v<EventHeader>);
static_assert(offsetof(EventHeader, generation) == 8 && offsetof(EventHeader, target) == 20 &&
              offsetof(EventHeader, type) == 26 && offsetof(EventHeader, serial) == 28);
static_assert(offsetof(EventHeader, sequence) == offsetof(EventKey, sequence) &&
              offsetof(EventHeader, sequence) + sizeof(std::uint32_t) == EventHeader::key_bytes);
// The header of a short event is its pending entry, with the word in the place of the body.
static_assert(offsetof(EventHeader, target) == offsetof(PendingEntry, target) &&
              offsetof(EventHeader, payload_bytes) == offsetof(PendingEntry, body) &&
              std::endian::native == std::endian::little);

}  // namespace nw
