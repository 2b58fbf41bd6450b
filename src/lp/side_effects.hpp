// SPDX-License-Identifier: Apache-2.0
// Adds, reads and frees the side effects in a history entry (SideEffect, history.hpp).
#pragma once

#include <cstdint>
#include <cstring>

#include "event/wire_event.hpp"
#include "lp/history.hpp"
#include "util/meter_marks.hpp"

namespace nw {

// Adds a side effect at the beginning of the entry's list. The caller must set its content.
inline SideEffect& add_side_effect(HistoryEntry& entry, SideEffect::Kind kind, std::size_t bytes,
                                   PlatformHeap& heap) {
    auto& effect = *static_cast<SideEffect*>(heap.allocate(sizeof(SideEffect) + bytes));
    meter_memory<MeterKind::history>(&effect, sizeof effect + bytes);
    effect.next = entry.side_effects;
    effect.bytes = static_cast<std::uint32_t>(bytes);
    effect.kind = kind;
    entry.side_effects = &effect;
    return effect;
}

// Stores the anti-message of an event that cannot be canceled through its record: its target has
// another worker, or the event that sent it is in the log.
inline void add_anti_message(HistoryEntry& entry, const EventHeader& event, PlatformHeap& heap) {
    WireEvent anti{event, 0, WireKind::anti_message, false, {}};
    anti.payload_bytes = 0;
    SideEffect& effect = add_side_effect(entry, SideEffect::Kind::remote_send, sizeof anti, heap);
    std::memcpy(effect.content(), &anti, sizeof anti);
}

template <class Take>
void for_each_anti_message(const HistoryEntry& entry, Take&& take) {
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next) {
        if (effect->kind != SideEffect::Kind::remote_send) continue;
        WireEvent anti;
        std::memcpy(&anti, effect->content(), sizeof anti);
        take(anti);
    }
}

inline void free_side_effects(HistoryEntry& entry, PlatformHeap& heap) noexcept {
    while (SideEffect* effect = entry.side_effects) {
        entry.side_effects = effect->next;
        heap.free(effect, effect->total_bytes());
    }
}

// Returns the number of events that the execution scheduled beyond the end of the run. Some of
// these events have neither a record nor an anti-message. Therefore the function subtracts the
// sends before the end from the number of all sends.
inline std::uint32_t sends_beyond_end(const HistoryEntry& entry, VirtualTime until) {
    std::uint32_t beyond = entry.sent_count;
    for (const EventRecord* sent = entry.sent; sent != nullptr; sent = sent->next_sent)
        beyond -= sent->time < until ? 1 : 0;
    for_each_anti_message(entry,
                          [&](const WireEvent& anti) { beyond -= anti.time < until ? 1 : 0; });
    return beyond;
}

}  // namespace nw
