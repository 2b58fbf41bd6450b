// Short events, as a handler hands them to the engine: events that will not be taken back, with a payload of at most 56
// bytes. Context::schedule writes them into a buffer and needs no call.
#pragma once

#include <cstddef>
#include <cstdint>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw::detail {

// The payload of a short event, with its share of the event's header: one cache line.
struct alignas(64) ShortBody {
    static constexpr std::size_t payload_bytes_max = 56;

    union {
        std::uint64_t word;  // PendingEntry::body_of()
        ShortBody* next;     // of a list of bodies that are free
    };
    std::byte payload[payload_bytes_max];
};

// A short event that the running handler has scheduled, in the words of the engine's PendingEntry.
struct SentEvent {
    std::uint64_t time;
    std::uint64_t generation_and_sender;
    std::uint64_t sequence_and_target;
    std::uint64_t body;

    // The event's type and the size of its payload, as the last eight bytes of an event's header.
    static constexpr std::uint64_t word_of(EventType type, std::size_t payload_bytes) noexcept {
        return payload_bytes | std::uint64_t{type} << 16;
    }
    // Without a payload.
    static constexpr std::uint64_t bare_body(EventType type) noexcept {
        return word_of(type, 0) | 1;
    }
    static std::uint64_t body_at(const ShortBody* body) noexcept {
        return reinterpret_cast<std::uint64_t>(body) | 2;
    }
};

// Where a handler's short events wait until the handler has returned. The engine takes other events, and those that
// do not keep to the rules, by a call.
struct SendBuffer {
    SentEvent* next = nullptr;
    SentEvent* end = nullptr;
    ShortBody* free_bodies = nullptr;   // a list
    std::size_t payload_bytes_max = 0;  // of a short event; 0: the model's events have no payload
    VirtualTime before = 0;             // times from there on go by a call
    VirtualTime lookahead = 0;          // the model's
    std::uint32_t* sequence = nullptr;  // the LP's count of what it has scheduled
};

}  // namespace nw::detail
