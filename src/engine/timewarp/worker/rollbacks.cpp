// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/rollbacks.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "api/make_context.hpp"
#include "engine/handler_call.hpp"
#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/sends.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/side_effects.hpp"
#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

std::uint64_t identity(std::uint32_t sender, std::uint32_t serial) noexcept {
    return (std::uint64_t{sender} << 32) | serial;
}

}  // namespace

Rollbacks::Rollbacks(WorkerCore& core, Committer& committer, Sends& sends, Ending& ending)
    : core_(core), committer_(committer), sends_(sends), ending_(ending) {}

// --- Anti-messages -------------------------------------------------------------------------------

void Rollbacks::receive_anti_message(const WireEvent& wire, Group& group, LpRecord& lp) {
    cancel_by_identity(wire, group, lp);
    cancel_processed();
}

// The caller calls cancel_processed() at the end.
void Rollbacks::cancel_by_identity(const WireEvent& anti, Group& group, LpRecord& lp) {
    if (!before(lp.last_key, anti)) committer_.take_into_history(group, lp);
    for (History::Ordinal p = lp.history.tail(); p != lp.committed;) {
        EventRecord& event = *core_.entry_at(lp, --p).event;
        if (event.sender == anti.sender && event.serial == anti.serial) {
            cancel_here(event);
            return;
        }
        if (before(event.key(), anti.key())) break;
    }
    // The event of this anti-message is pending or has not arrived. The event and the anti-message
    // are removed when the event is about to be executed.
    group.unmatched_anti_messages.insert(identity(anti.sender, anti.serial));
    ++lp.unmatched_anti_messages;
}

bool Rollbacks::take_anti_message(Group& group, LpRecord& lp, const EventRecord& event) {
    if (group.unmatched_anti_messages.erase(identity(event.sender, event.serial)) == 0)
        return false;
    --lp.unmatched_anti_messages;
    return true;
}

bool Rollbacks::is_canceled(const PendingEntry& entry) const noexcept {
    const EventRecord* const record = entry.has_record() ? entry.record() : nullptr;
    if (record != nullptr && record->status == EventStatus::canceled) return true;
    const LpRecord& lp = core_.lp(entry.target);
    if (lp.unmatched_anti_messages == 0 || (record != nullptr && !record->canceled_by_identity))
        return false;
    const std::uint32_t serial = record != nullptr ? record->serial : header_of(entry).serial;
    return core_.group_of(lp).unmatched_anti_messages.contains(identity(entry.sender, serial));
}

// --- Canceling events of this worker -------------------------------------------------------------

void Rollbacks::cancel_here(EventRecord& event) {
    if (event.status == EventStatus::processed) to_cancel_.push_back(&event);
    // A pending event is dropped when it is about to be executed.
    event.status = EventStatus::canceled;
}

void Rollbacks::cancel_processed() {
    while (!to_cancel_.empty()) {
        EventRecord& event = *to_cancel_.back();
        to_cancel_.pop_back();
        const Partition::Position position = core_.plan.partition.position(event.target);
        if (event.status != EventStatus::detached) {
            roll_back_chain(event);
            NW_CHECK(event.status == EventStatus::detached);
        }
        free_event(*core_.rank.group(position.group), event);
    }
}

// --- Rollback ------------------------------------------------------------------------------------

// Returns the position of the LP's first event that is_undone(event) selects. Requires: if
// is_undone() selects an event, it also selects all later events of the LP.
template <class IsUndone>
History::Ordinal Rollbacks::first_of(LpRecord& lp, IsUndone&& is_undone) const noexcept {
    History::Ordinal position = lp.history.tail();
    while (position != lp.committed && is_undone(*core_.entry_at(lp, position - 1).event))
        --position;
    return position;
}

void Rollbacks::roll_back_before(Group& group, LpRecord& lp, const EventKey& key) {
    ++core_.counters[Counter::stragglers];
    committer_.take_into_history(group, lp);
    roll_back(group, lp,
              first_of(lp, [&](const EventRecord& event) { return before(key, event.key()); }));
    cancel_processed();
}

void Rollbacks::roll_back_all_from(const EventKey& bound) {
    committer_.take_into_histories(bound);
    committer_.for_each_uncommitted([&](LpRecord& lp) {
        const History::Ordinal position =
            first_of(lp, [&](const EventRecord& event) { return !before(event.key(), bound); });
        if (position == lp.history.tail()) return;
        roll_back(core_.group_of(lp), lp, position);
        cancel_processed();
    });
}

bool Rollbacks::roll_back_newest(Group& group, LpRecord& lp) {
    const History::Ordinal newest = lp.history.tail() - 1;
    const bool is_there = roll_back(group, lp, newest) == newest;
    cancel_processed();
    return is_there;
}

void Rollbacks::roll_back_to(const EventRecord& event) {
    roll_back_chain(event);
    cancel_processed();
}

void Rollbacks::roll_back_chain(const EventRecord& event) {
    const Partition::Position target = core_.plan.partition.position(event.target);
    Group& group = *core_.rank.group(target.group);
    LpRecord& lp = group.lps[target.index];
    committer_.take_into_history(group, lp);
    History::Ordinal position = lp.history.tail();
    do {
        NW_CHECK(position != lp.committed);
        --position;
    } while (core_.entry_at(lp, position).event != &event);
    roll_back(group, lp, position);
}

// Rolls the LP back to the state before the entry at `wanted`, or at an earlier position (see
// restore_state()), and returns this position. The events from this position on are pending again,
// or detached if they were canceled. The caller calls cancel_processed() at the end.
History::Ordinal Rollbacks::roll_back(Group& group, LpRecord& lp, const History::Ordinal wanted) {
    const History::Ordinal tail = lp.history.tail();
    NW_CHECK(wanted - lp.committed < tail - lp.committed);
    NW_CHECK(core_.entry_at(lp, wanted).event->time >= core_.gvt);
    const MeterScope<MeterPhase::roll_back> phase;
    TraceTurn trace(core_.trace);
    trace.begin();
    undo_sends(group, lp, wanted, tail);
    const History::Ordinal position = restore_state(group, lp, wanted);
    undo_sends(group, lp, position, wanted);
    ++core_.counters[Counter::rollbacks];
    core_.counters[Counter::rolled_back_events] += tail - position;
    core_.figures.rollback_lengths.count(tail - position);
    note_rolled_back(group, lp, tail - position);
    const EventType first = core_.entry_at(lp, position).event->type;
    make_pending(group, lp, position);
    trace.mark(TraceKind::rollback, tail - position, lp.id, first);
    if constexpr (paranoid) core_.check_change(lp, is_canceling());
    return position;
}

// Removes the entries from `position` on. Their events are pending again, or detached.
void Rollbacks::make_pending(Group& group, LpRecord& lp, History::Ordinal position) {
    for (History::Ordinal p = lp.history.tail(); p != position;) {
        EventRecord& event = *core_.entry_at(lp, --p).event;
        if (core_.counts_events()) ++core_.figures_of(lp, event.type).rolled_back;
        lp.history.drop_last();
        if (event.deferred) [[unlikely]]
            deferrals_.forget(event);
        event.failed = false;
        event.lets_end = false;
        if (event.status == EventStatus::canceled) {
            event.status = EventStatus::detached;
        } else {
            event.status = EventStatus::pending;
            // A record without canceled_by_identity may be in the list of events that its sender
            // has sent (HistoryEntry::sent), so no short event may replace it.
            const bool is_in_no_list = core_.uses_log && event.canceled_by_identity;
            core_.pending.push(is_in_no_list ? shortened(core_.short_events, event.entry(), group)
                                             : event.entry());
        }
    }
}

// Cancels all sends of the entries in [from, to), newest entry first, and frees their side effects.
void Rollbacks::undo_sends(Group& group, LpRecord& lp, History::Ordinal from, History::Ordinal to) {
    for (History::Ordinal p = to; p != from;) {
        HistoryEntry& entry = core_.entry_at(lp, --p);
        if (entry.sent_count > 0)
            ending_.take_back_beyond_end(sends_beyond_end(entry, core_.plan.until));
        for (EventRecord* sent = entry.sent; sent != nullptr; sent = sent->next_sent) {
            cancel_here(*sent);
            ++core_.counters[Counter::anti_messages];
        }
        for_each_anti_message(entry, [&](const WireEvent& anti) {
            const Partition::Position target = core_.plan.partition.position(anti.target);
            if (core_.rank.owner(target.group) == core_.self) {
                Group& there = *core_.rank.group(target.group);
                cancel_by_identity(anti, there, there.lps[target.index]);
            } else {
                sends_.publish(anti, nullptr);
            }
            ++core_.counters[Counter::anti_messages];
        });
        sends_.take_back_figures(group, lp, entry);
        free_side_effects(entry, group.heap);
    }
}

// --- Restoring a state ---------------------------------------------------------------------------

History::Ordinal Rollbacks::restore_state(Group& group, LpRecord& lp, History::Ordinal position) {
    const RunningCall interrupted = core_.running;
    // If a handler or on_reverse() crashes or is interrupted while the state is restored, the
    // execution continues here.
    if (sigsetjmp(guard_.env(), 0) != 0)
        undo_coasted(leave_crashed_handler(guard_));
    else
        coasting_ = {.group = &group, .lp = &lp, .to = position, .taken_back = lp.history.tail()};
    core_.keeper.restore(*this);
    // If the history is now empty, the smallest key is correct: the earlier events of the LP are
    // committed, and no event that can still arrive precedes them.
    lp.last_key = EventKey{-1, 0, 0, 0};
    lp.failed = false;
    if (coasting_.to != lp.history.head()) {
        const EventRecord& last = *core_.entry_at(lp, coasting_.to - 1).event;
        lp.last_key = last.key();
        lp.failed = last.failed;
    }
    core_.running = interrupted;
    return coasting_.to;
}

LpRecord& Rollbacks::lp() noexcept { return *coasting_.lp; }

PlatformHeap& Rollbacks::heap() noexcept { return coasting_.group->heap; }

History::Ordinal Rollbacks::wanted() const noexcept { return coasting_.to; }

HistoryEntry& Rollbacks::entry_at(History::Ordinal position) noexcept {
    return core_.entry_at(*coasting_.lp, position);
}

HistoryEntry* Rollbacks::take_back_newest() noexcept {
    if (coasting_.taken_back == coasting_.to) return nullptr;
    HistoryEntry& entry = entry_at(--coasting_.taken_back);
    lp().random_counter -= entry.random_used;
    lp().sequence -= entry.sent_count;
    return &entry;
}

void Rollbacks::call_on_reverse(HistoryEntry& entry) {
    Context context = sends_.make_context(entry.event->time, lp().id, lp().random_counter);
    std::memcpy(&context.control(), entry.undo(), sizeof(std::uint64_t));
    core_.running = {coasting_.group, &lp(), entry.event, &entry, {}, true, "on_reverse()"};
    if (!call_handler_of(lp(), guard_, core_.failure,
                         [&] { lp().process->on_reverse(context, entry.event->view()); }))
        fail_undoing(core_.failure);
}

// Each handler gets the same state and random numbers as in its first execution.
bool Rollbacks::coast(History::Ordinal from) {
    LpRecord& lp = *coasting_.lp;
    for (History::Ordinal p = from; p != coasting_.to; ++p) {
        lp.random_counter -= core_.entry_at(lp, p).random_used;
        lp.sequence -= core_.entry_at(lp, p).sent_count;
    }
    for (History::Ordinal p = from; p != coasting_.to; ++p) {
        HistoryEntry& entry = core_.entry_at(lp, p);
        EventRecord& event = *entry.event;
        if (event.failed) break;
        ++core_.counters[Counter::coasted_events];
        Context context = sends_.make_context(event.time, lp.id, lp.random_counter);
        core_.running = {nullptr, &lp, &event, &entry, {}, true};
        coasting_.at = p;
        coasting_.sequence = lp.sequence;
        const bool well = call_handler_of(lp, guard_, core_.failure,
                                          [&] { lp.process->on_event(context, event.view()); });
        const std::uint64_t random_counter = lp.random_counter + entry.random_used;
        if (!well || context.random().counter() != random_counter ||
            lp.sequence != coasting_.sequence + entry.sent_count) [[unlikely]] {
            undo_coasted(well ? "it drew other random numbers or sent other events"
                              : core_.failure);
            return false;
        }
        lp.random_counter = random_counter;
    }
    return true;
}

bool Rollbacks::is_coasting_ahead() const noexcept {
    return !core_.is_alone && core_.running.silent && *core_.running.hook == '\0' &&
           !(core_.running.event->bound() < core_.irrevocable_before) &&
           coasting_.at - core_.running.lp->committed <
               core_.running.lp->history.tail() - core_.running.lp->committed;
}

// Makes the running event the new end of coasting forward, so that it is undone, too. In all other
// cases the model is wrong and the run ends: a correct handler gives the same result when a final
// event is executed again, and a correct on_reverse() does not fail.
void Rollbacks::undo_coasted(std::string_view what) {
    if (!is_coasting_ahead()) fail_undoing(what);
    core_.running.lp->sequence = coasting_.sequence;
    coasting_.to = coasting_.taken_back = coasting_.at;
}

// Throws ModelError: the running handler failed or behaved differently during a rollback, although
// the event was executed without failure before.
void Rollbacks::fail_undoing(std::string_view what) {
    const std::string call = describe_call(core_.running, core_.plan.kinds);
    if (*core_.running.hook != '\0') throw ModelError(call + std::string(what));
    throw ModelError(
        fmt::format("{}executed again from the same state: {}; allowed: handlers that use only "
                    "state that is rolled back",
                    call, what));
}

}  // namespace nw
