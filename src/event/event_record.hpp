// SPDX-License-Identifier: Apache-2.0
// An event in the engine: a header of 48 bytes, followed by the payload, in the platform memory of
// the target's group. The worker that owns the target reads and writes the record. The sender's
// worker also uses next_sent and status, but only while the sender's worker owns the target, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <numawarp/event.hpp>

#include "event/event_header.hpp"

namespace nw {

enum class EventStatus : std::uint8_t {
    pending,    // in the pending set
    processed,  // in its LP's history
    // A canceled event that is pending is dropped when it becomes the smallest event. If a canceled
    // event is processed, its LP will be rolled back.
    canceled,
    detached,  // canceled and in no set any more; will be freed
};

struct EventRecord : EventHeader {
    EventRecord* next_sent;  // the next event that the same execution sent to this worker
    EventStatus status;
    // The event is in no list of sent events, because its sender has, or had, another worker, or
    // because the event that sent it is or was in the log. Only an anti-message with the event's
    // identity can cancel the event. The anti-message may arrive before the event.
    bool canceled_by_identity;
    bool failed;          // its handler threw, crashed, or was skipped after an earlier failure
    bool lets_end;        // the LP's can_end() returned true after this event
    bool rollback_tried;  // --check-rollback has handled this event
    bool deferred;        // its handler was interrupted and will run again; `failed` is set, too
    bool irrevocable;     // it was deferred, and its handler must not be interrupted again

    std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* payload() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }

    std::size_t bytes() const noexcept { return sizeof(EventRecord) + payload_bytes; }

    Event view() const noexcept {
        return Event(time, LpId{sender}, type, std::span(payload(), payload_bytes));
    }

    PendingEntry entry() noexcept {
        return {time, generation, sender, sequence, target, PendingEntry::body_of(this)};
    }

    // Sets all fields except the header to the values of a newly scheduled event.
    void begin() noexcept {
        next_sent = nullptr;
        status = EventStatus::pending;
        canceled_by_identity = false;
        failed = false;
        lets_end = false;
        rollback_tried = false;
        deferred = false;
        irrevocable = false;
    }
};

static_assert(sizeof(EventRecord) == 48, "header and 16 bytes of payload fill one cache line");

}  // namespace nw
