// What every form of an event begins with: the record in a group's memory and the bytes on the way
// between workers. One layout, so that one turns into the other by a copy.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <numawarp/ids.hpp>

#include "event/event_key.hpp"

namespace nw {

struct EventHeader {
    // Order (time, generation, sender, sequence) decides who runs first; the sequence rolls back with
    // its sender. It counts modulo 2^32: two events that one LP sends for one time, around its 2^32nd
    // send, have changed places, on every engine alike. Identity (sender, serial) matches an
    // anti-message with its twin; the serial never rolls back, and 2^32 sends of one LP do not fit
    // between a send and its cancellation.
    VirtualTime time;
    std::uint32_t generation;
    std::uint32_t sender;
    std::uint32_t sequence;
    std::uint32_t target;
    // These are the word of a short event (event_key.hpp).
    std::uint16_t payload_bytes;
    EventType type;
    std::uint32_t serial;

    EventKey key() const noexcept { return {time, generation, sender, sequence}; }
    EventBound bound() const noexcept { return {time, generation}; }
    // With which a header begins as a key does.
    static constexpr std::size_t key_bytes = 20;
};

static_assert(sizeof(EventHeader) == 32 && std::is_trivially_copyable_v<EventHeader>);
static_assert(offsetof(EventHeader, generation) == 8 && offsetof(EventHeader, target) == 20 &&
              offsetof(EventHeader, type) == 26 && offsetof(EventHeader, serial) == 28);
static_assert(offsetof(EventHeader, sequence) == offsetof(EventKey, sequence) &&
              offsetof(EventHeader, sequence) + sizeof(std::uint32_t) == EventHeader::key_bytes);
// The header of a short event is its entry with the word instead of the body.
static_assert(offsetof(EventHeader, target) == offsetof(PendingEntry, target) &&
              offsetof(EventHeader, payload_bytes) == offsetof(PendingEntry, body) &&
              std::endian::native == std::endian::little);

}  // namespace nw
