// SPDX-License-Identifier: Apache-2.0
// Short events on their way from a handler to the engine. A short event has a payload of at most 56
// bytes. Context::schedule() writes it into a buffer, without a function call. The engine may
// interrupt the handler between any two instructions, and then drops the events of the buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw::detail {

// The payload of a short event, together with a part of the event's header: one cache line.
struct alignas(64) ShortBody {
    static constexpr std::size_t payload_bytes_max = 56;

    union {
        std::uint64_t word;  // SentEvent::word_of()
        ShortBody* next;     // in the list of free bodies
    };
    std::byte payload[payload_bytes_max];
};

// A short event that the running handler has scheduled, in the layout of the engine's PendingEntry.
struct SentEvent {
    std::uint64_t time;
    std::uint64_t generation_and_sender;
    std::uint64_t sequence_and_target;
    std::uint64_t body;

    // The event's type and the size of its payload, as in the last eight bytes of an event's
    // header.
    static constexpr std::uint64_t word_of(EventType type, std::size_t payload_bytes) noexcept {
        return payload_bytes | std::uint64_t{type} << 16;
    }
    // The body of an event without a payload.
    static constexpr std::uint64_t bare_body(EventType type) noexcept {
        return word_of(type, 0) | 1;
    }
    static std::uint64_t body_at(const ShortBody* body) noexcept {
        return reinterpret_cast<std::uint64_t>(body) | 2;
    }
};

// Holds a handler's short events until the handler has returned. Other events, and events that
// break a rule, are passed to the engine by a function call.
struct SendBuffer {
    SentEvent* next = nullptr;
    SentEvent* end = nullptr;
    ShortBody* free_bodies = nullptr;   // a list
    std::size_t payload_bytes_max = 0;  // of a short event; 0: the model's events have no payload
    VirtualTime before = 0;             // events at or after this time need a function call
    VirtualTime lookahead = 0;          // of the model
    std::uint32_t* sequence = nullptr;  // the LP's count of the events that it has scheduled
};

}  // namespace nw::detail
