// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/logged_execution.hpp"

#include <utility>

#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"

namespace nw {

// Releases the sends that are not short. Adds these sends and the side effects to the entry, which
// may move in memory. Returns the end of the entry.
[[gnu::noinline]] std::byte* LoggedExecution::add_other_effects(std::byte* end) {
    std::size_t sends = begun_->sends;
    for (EventRecord* sent = effects_.sent; sent != nullptr; sent = sent->next_sent) ++sends;
    const auto bytes = static_cast<std::size_t>(end - reinterpret_cast<std::byte*>(begun_));
    LogEntry& whole = core_.log.begin(sends);
    begun_ = &whole;
    auto* send = reinterpret_cast<EventHeader*>(reinterpret_cast<std::byte*>(&whole) + bytes);
    for (EventRecord* sent = effects_.sent; sent != nullptr; sent = sent->next_sent) {
        sent->canceled_by_identity = true;
        *send++ = *sent;
    }
    sends_.release_shortened(effects_);
    whole.sends = static_cast<std::uint32_t>(sends);
    whole.side_effects = effects_.side_effects;
    if (whole.side_effects != nullptr) whole.flags |= LogEntry::has_effects;
    effects_ = {};
    return reinterpret_cast<std::byte*>(send);
}

void LoggedExecution::keep() {
    auto& [group, lp, event, entry, hook_key, silent, hook] = core_.running;
    if (entry != &effects_) return;
    LogEntry& begun = *begun_;
    // An interruption may come after an event was counted and before the event is in the send
    // buffer.
    lp->sequence = sequence_;
    committer_.take_into_history(*group, *lp);
    HistoryEntry& kept = lp->history.append(core_.stride, group->heap);
    kept = std::exchange(effects_, {});
    std::memcpy(kept.undo(), begun.undo(), core_.log.undo_bytes());
    if (begun.state_bytes > 0)
        core_.keeper.take_from_log(*lp, core_.log.state_of(begun), begun.state_bytes, group->heap);
    entry = &kept;
    event = kept.event = &keep_record(core_.short_events, *group, *event);
    committer_.note_uncommitted(*lp);
}

}  // namespace nw
