// An event as the engine holds it: 48 bytes of header, the payload behind it, in the platform memory
// of the target's group. Written and read by the worker that owns the target; two fields
// (next_sent, status) are also used by the sender, which may do so only while it owns the target too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <numawarp/event.hpp>

#include "event/event_header.hpp"

namespace nw {

enum class EventStatus : std::uint8_t {
    pending,    // in the pending set, to be executed
    processed,  // in its LP's history
    cancelled,  // pending: to be dropped when it comes up; processed: its LP is to be rolled back
    detached,   // cancelled and in no set any more: to be freed
};

struct EventRecord : EventHeader {
    EventRecord* next_sent;  // the next event that the same execution sent to this worker
    EventStatus status;
    bool from_other_worker;  // came through a bottom half: an anti-message may wait for it
    bool failed;          // its handler threw or crashed, or was skipped because an earlier one did
    bool lets_end;        // after it, its LP's can_end() was true
    bool rollback_tried;  // --check-rollback has had its turn with this event
    bool put_aside;       // its handler was interrupted: failed, until GVT has come to it
    bool certain;         // GVT has come to it after that: its handler is not interrupted again

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

    // Sets all fields but the header, as for an event that was just scheduled.
    void begin() noexcept {
        next_sent = nullptr;
        status = EventStatus::pending;
        from_other_worker = false;
        failed = false;
        lets_end = false;
        rollback_tried = false;
        put_aside = false;
        certain = false;
    }
};

static_assert(sizeof(EventRecord) == 48, "header and 16 bytes of payload fill one cache line");

}  // namespace nw
