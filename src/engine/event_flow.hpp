// SPDX-License-Identifier: Apache-2.0
// The steps of an event through a worker that are the same in all engines. A handler schedules the
// event. The event leaves when this handler has returned, arrives as mail, and comes near the front
// of the pending set. Each engine adds its own work to these steps: Time Warp stores the data that
// it needs to undo the event.
//
// Thread: the worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "api/event_sink.hpp"
#include "engine/running_call.hpp"
#include "engine/watched_thread.hpp"
#include "event/bottom_half.hpp"
#include "event/event_prefetcher.hpp"
#include "event/pending_set.hpp"
#include "event/wire_event.hpp"
#include "lp/event_memory.hpp"
#include "plan/run_plan.hpp"
#include "util/counters.hpp"
#include "util/handoff.hpp"
#include "util/prefetch.hpp"

namespace nw {

// The functions with which EventPrefetcher finds and prefetches LPs. place_of(LP number) returns
// the LP's place. prefetch_past(lp, entry) prefetches the engine's data about the LP's past,
// shortly before the event of `entry` is executed.
template <class PlaceOf, class PrefetchPast>
struct LpsAhead {
    const LpKinds& kinds;
    PlaceOf place_of;
    PrefetchPast prefetch_past;

    static std::uint64_t counter_of(const EventPrefetcher::Place& place) noexcept {
        return place.lp->random_counter;
    }
    static void prefetch_far(const EventPrefetcher::Place& place,
                             const PendingEntry& entry) noexcept {
        prefetch(place.lp);
        prefetch(&place.lp->history);  // the record's second cache line
        if (entry.is_bare()) [[likely]]
            return;
        if (entry.has_record())
            prefetch(entry.record(), sizeof(EventRecord));
        else
            prefetch(entry.short_body());
    }
    void prefetch_near(const EventPrefetcher::Place& place, const PendingEntry& entry) const {
        prefetch(place.lp->process, kinds.object_bytes(place.lp->kind));
        if (entry.has_record() && entry.record()->payload_bytes > 0) [[unlikely]]
            prefetch(entry.record()->payload(), entry.record()->payload_bytes);
        prefetch_past(*place.lp, entry);
    }
};
template <class PlaceOf, class PrefetchPast>
LpsAhead(const LpKinds&, PlaceOf, PrefetchPast) -> LpsAhead<PlaceOf, PrefetchPast>;

// Schedules an event of the running handler. If the event is at or after the end of the run,
// beyond_end() is called, and the event is dropped unless the run is saved.
//
// An event that is kept gets its place in the order. If group_here(group number) returns the
// target's group, the event is made in this group and added to the chain `sent`. If it returns
// null, another worker owns the group, and send_away(header) is called.
template <class GroupHere, class SendAway, class BeyondEnd>
inline void schedule_event(const RunPlan& plan, const RunningCall& call,
                           const detail::ScheduledEvent& scheduled, EventRecord*& sent,
                           GroupHere&& group_here, SendAway&& send_away, BeyondEnd&& beyond_end) {
    LpRecord& lp = *call.lp;
    const EventKey key = call.key();
    const bool is_beyond = scheduled.when.time >= plan.until;
    if (is_beyond) {
        detail::touch(scheduled.payload);
        beyond_end();
    }
    if (!is_beyond || plan.keeps_events_beyond_end()) {
        const EventHeader header{
            .time = scheduled.when.time,
            .generation = detail::generation_after(key.generation, key.time, scheduled.when.time,
                                                   scheduled.first_generation),
            .sender = lp.id,
            .sequence = lp.sequence,
            .target = index(scheduled.target),
            .payload_bytes = static_cast<std::uint16_t>(scheduled.payload.size()),
            .type = scheduled.type,
            .serial = lp.serial++};
        Group* const here = group_here(plan.partition.position(header.target).group);
        if (here != nullptr) [[likely]] {
            detail::touch(scheduled.payload);
            EventRecord& event = new_event(*here, header, scheduled.payload.data());
            event.next_sent = sent;
            sent = &event;
        } else {
            send_away(header);
        }
    }
    // The sequence is incremented last, because reading the payload may fault: its address comes
    // from the model.
    ++lp.sequence;
}

// Adds to the pending set the events that a handler has scheduled. Requires: the handler has
// returned.
inline void release_sent(EventRecord* sent, PendingSet& pending) {
    for (; sent != nullptr; sent = sent->next_sent) pending.push(sent->entry());
}

// Calls receive(wire event, group) for all mail that has arrived. If group_of(bottom half) returns
// null, the bottom half is skipped, because group_of() has already processed it. Returns whether
// there was any mail.
template <class GroupOf, class Receive>
inline bool drain_mail(ReadyList& ready, GroupOf&& group_of, Receive&& receive) {
    BottomHalf* mail = ready.take_all();
    const bool has_come = mail != nullptr;
    if (has_come) note_handoff(Handoff::mail_taken);
    while (mail != nullptr) {
        // Read before drain(): after drain(), a writer may add the bottom half to the list again.
        BottomHalf* next = mail->next_ready;
        if (Group* group = group_of(*mail)) {
            const std::span<const std::byte> events = mail->drain();
            for_each_wire_event(events.data(), events.size(),
                                [&](const WireEvent& wire) { receive(wire, *group); });
        }
        mail = next;
    }
    return has_come;
}

// The event that is executed next, for HandlerWatch (engine/handler_watch.hpp).
[[gnu::noinline, gnu::cold]] inline std::optional<UpcomingEvent> upcoming_event(
    PendingSet& pending, const Counters& counters) {
    const PendingEntry* const top = pending.top();
    if (top == nullptr) return std::nullopt;
    const EventType type = top->has_record() ? top->record()->type : header_of(*top).type;
    return UpcomingEvent{top->time, top->target, top->sender, type,
                         counters[Counter::executed_events]};
}

}  // namespace nw
