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

// Returns the record of an event for a history. For a short event, makes a record in its target's
// group.
inline EventRecord& keep_record(const ShortEvents& events, Group& target_group,
                                EventRecord& event) {
    if (!events.is_record(event)) return event;
    EventRecord& kept = new_event(target_group, event, event.payload());
    kept = event;
    return kept;
}

// Makes a record for a short event in its target's group. Returns the entry of the record.
inline PendingEntry make_record(ShortEvents& events, const PendingEntry& entry, Group& group) {
    return keep_record(events, group, events.record_of(entry)).entry();
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

// Makes records for all short events except bare events, which do not depend on the worker's
// ShortEvents.
template <class GroupOf>
void make_all_records(ShortEvents& events, PendingSet& pending, GroupOf&& group_of) {
    pending.replace_each([&](const PendingEntry& entry) {
        return entry.has_record() || entry.is_bare()
                   ? entry
                   : make_record(events, entry, group_of(entry.target));
    });
}

}  // namespace nw
