// SPDX-License-Identifier: Apache-2.0
// Creates and frees the records of events, in the memory of the target's group. No other code
// creates or frees them. (A short event has no record: event/short_events.hpp.)
//
// Thread: the worker that owns the group.
#pragma once

#include <cstddef>
#include <cstring>

#include "event/event_record.hpp"
#include "event/pending_set.hpp"
#include "event/short_events.hpp"
#include "lp/group.hpp"
#include "util/meter_marks.hpp"

namespace nw {

// Makes the record of a pending event.
inline EventRecord& new_event(Group& target_group, const EventHeader& header,
                              const std::byte* payload) {
    const std::size_t bytes = sizeof(EventRecord) + header.payload_bytes;
    void* memory = target_group.heap.allocate(bytes);
    meter_memory<MeterKind::events>(memory, bytes);
    auto& event = *static_cast<EventRecord*>(memory);
    static_cast<EventHeader&>(event) = header;
    event.begin();
    if (header.payload_bytes > 0) std::memcpy(event.payload(), payload, header.payload_bytes);
    return event;
}

// Frees the record. Requires: the record is in no pending set and in no history, and no code will
// still follow a list of sent events that contains the record.
inline void free_event(Group& target_group, EventRecord& event) noexcept {
    target_group.heap.free(&event, event.bytes());
}

// Makes a record for a short event in its target's group. Returns the entry of the record.
inline PendingEntry make_record(ShortEvents& events, const PendingEntry& entry, Group& group) {
    const EventRecord& event = events.record_of(entry);
    EventRecord& kept = new_event(group, event, event.payload());
    kept = event;
    return kept.entry();
}

// Replaces the record of an event by a short event: frees the record, and returns the entry of the
// short event. Returns `entry` if there is no record, or if the event cannot be short. Requires:
// the event is pending, and no list of sent events contains it, so that it can be canceled only by
// its identity.
inline PendingEntry shortened(ShortEvents& events, const PendingEntry& entry, Group& group) {
    if (!entry.has_record()) return entry;
    EventRecord& event = *entry.record();
    if (!events.has_room_for(event) || event.rollback_tried || event.irrevocable) return entry;
    const PendingEntry without_record = events.entry_of(event, event.payload());
    free_event(group, event);
    return without_record;
}

// Makes records for all short events, because checkpoints save only records. With `except_bare`,
// makes no records for bare events, because they do not depend on the worker's ShortEvents.
template <class GroupOf>
void make_all_records(ShortEvents& events, PendingSet& pending, bool except_bare,
                      GroupOf&& group_of) {
    pending.replace_each([&](const PendingEntry& entry) {
        const bool stays = entry.has_record() || (except_bare && entry.is_bare());
        return stays ? entry : make_record(events, entry, group_of(entry.target));
    });
}

}  // namespace nw
