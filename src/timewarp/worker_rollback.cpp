// Taking back what was executed too early. First everything the undone events sent is cancelled
// (receivers are wasting work on it), then the LP's state is restored, which touches only its own
// memory and can wait.
//
// Cancelling an event of our own that was executed rolls its LP back in turn. That is done from a
// list and not by recursion: a chain of such rollbacks may be as long as the simulation.

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/meter_marks.hpp"
#include "engine/handler_call.hpp"
#include "lp/make_context.hpp"
#include "lp/side_effects.hpp"
#include "lp/state_difference.hpp"
#include "measures/interval_sums.hpp"
#include "timewarp/worker.hpp"
#include "worker/worker_core_inline.hpp"

namespace nw {
namespace {

std::uint64_t identity(std::uint32_t sender, std::uint32_t serial) noexcept {
    return (std::uint64_t{sender} << 32) | serial;
}

}  // namespace

// --- Anti-messages from other workers --------------------------------------------------------------

void Worker::receive_anti_message(const WireEvent& wire, Group& group, LpRecord& lp) {
    for (History::Ordinal p = lp.history.tail(); p != lp.committed;) {
        EventRecord& event = *core_.entry_at(lp, --p).event;
        if (event.sender == wire.sender && event.serial == wire.serial) {
            cancel_here(event);
            cancel_processed();
            return;
        }
        if (before(event.key(), wire.key())) break;
    }
    // Its twin is pending, or has not arrived: they meet when the twin comes up for execution.
    group.unmatched_anti_messages.insert(identity(wire.sender, wire.serial));
    ++lp.unmatched_anti_messages;
}

bool Worker::take_anti(Group& group, LpRecord& lp, const EventRecord& event) {
    if (group.unmatched_anti_messages.erase(identity(event.sender, event.serial)) == 0)
        return false;
    --lp.unmatched_anti_messages;
    return true;
}

bool Worker::meets_anti(Group& group, LpRecord& lp, const EventRecord& event) {
    if (!take_anti(group, lp, event)) return false;
    group.heap.free(const_cast<EventRecord*>(&event), event.bytes());
    return true;
}

// --- Cancelling our own ----------------------------------------------------------------------------

void Worker::cancel_here(EventRecord& event) {
    if (event.status == EventStatus::processed) to_cancel_.push_back(&event);
    // If pending, it is dropped when it comes up.
    event.status = EventStatus::cancelled;
}

void Worker::cancel_processed() {
    while (!to_cancel_.empty()) {
        EventRecord& event = *to_cancel_.back();
        to_cancel_.pop_back();
        const Partition::Position position = core_.plan.partition.position(event.target);
        Group& group = *core_.rank.group(position.group);
        if (event.status != EventStatus::detached) {
            roll_back_to(event);
            NW_CHECK(event.status == EventStatus::detached);
        }
        group.heap.free(&event, event.bytes());
    }
}

// --- Rollback --------------------------------------------------------------------------------------

void Worker::roll_back_before(Group& group, LpRecord& lp, const EventKey& key) {
    ++core_.counters[Counter::stragglers];
    History::Ordinal position = lp.history.tail();
    while (position != lp.committed && before(key, core_.entry_at(lp, position - 1).event->key()))
        --position;
    roll_back(group, lp, position);
    cancel_processed();
}

// Ensures: the LP is as it was before the entry at the returned position, which is `position` or an earlier one
// (restore_state()); the events from there on are pending again, or detached if they were cancelled. The caller runs
// cancel_processed() at the end.
History::Ordinal Worker::roll_back(Group& group, LpRecord& lp, const History::Ordinal wanted) {
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
    for (History::Ordinal p = tail; p != position;) {
        EventRecord& event = *core_.entry_at(lp, --p).event;
        if (core_.counts_events()) ++core_.figures_of(lp, event.type).rolled_back;
        lp.history.drop_last();
        if (event.put_aside) [[unlikely]]
            forget_put_aside(event);
        event.failed = false;
        event.lets_end = false;
        if (event.status == EventStatus::cancelled) {
            event.status = EventStatus::detached;
        } else {
            event.status = EventStatus::pending;
            pending_.push(event.entry());
        }
    }
    trace.mark(TraceKind::rollback, tail - position, lp.id, first);
    if constexpr (paranoid) check_change(lp);
    return position;
}

// Requires: the event is in its LP's history, and not final.
void Worker::roll_back_to(const EventRecord& event) {
    const Partition::Position target = core_.plan.partition.position(event.target);
    Group& group = *core_.rank.group(target.group);
    LpRecord& lp = group.lps[target.index];
    History::Ordinal position = lp.history.tail();
    do {
        NW_CHECK(position != lp.committed);
        --position;
    } while (core_.entry_at(lp, position).event != &event);
    roll_back(group, lp, position);
}

void Worker::take_back_looks(Group& group, const LpRecord& lp, const HistoryEntry& entry) noexcept {
    if (core_.intervals == nullptr) return;
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next)
        if (effect->kind == SideEffect::Kind::figures)
            group.intervals_seen_of(lp) = IntervalSums::first_of(effect->bytes_of());
}

// Of the entries in [from, to).
void Worker::undo_sends(Group& group, LpRecord& lp, History::Ordinal from, History::Ordinal to) {
    for (History::Ordinal p = to; p != from;) {
        HistoryEntry& entry = core_.entry_at(lp, --p);
        if (entry.sent_count > 0)
            ending_.take_back_beyond_end(sends_beyond_end(entry, core_.plan.until));
        for (EventRecord* sent = entry.sent; sent != nullptr; sent = sent->next_sent) {
            cancel_here(*sent);
            ++core_.counters[Counter::anti_messages];
        }
        for_each_anti_message(entry, [&](const WireEvent& anti) {
            publish(anti, nullptr);
            ++core_.counters[Counter::anti_messages];
        });
        take_back_looks(group, lp, entry);
        free_side_effects(entry, group.heap);
    }
}

// Puts state, random counter, sequence and last key back to `position`. The entries are still there. Returns where the
// LP is now: earlier than `position` if an event that can still be undone did something else when it was executed
// again. Such an event met a state that never was, for instance freed memory, which no saved state contains.
History::Ordinal Worker::restore_state(Group& group, LpRecord& lp, History::Ordinal position) {
    const RunningCall interrupted = core_.running;
    if (sigsetjmp(undo_guard_.env(), 0) != 0) {
        undo_coasted(leave_crashed_handler(undo_guard_));
    } else {
        coasting_ = {.to = position};
        take_back_entries(group, lp, position);
    }
    if (core_.keeper.saves_states(lp)) {
        while (!coast(lp, core_.keeper.restore_saved_state(lp, coasting_.to, group.heap))) {
        }
    } else if (core_.keeper.method(lp) == Rollback::copy) {
        core_.keeper.restore_undo(lp, core_.entry_at(lp, position));
    }
    // Keys below the oldest entry kept are below GVT: nothing that can still come is earlier.
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

// Random numbers and sequence, and with reverse handlers the state.
void Worker::take_back_entries(Group& group, LpRecord& lp, History::Ordinal position) {
    for (History::Ordinal p = lp.history.tail(); p != position;) {
        HistoryEntry& entry = core_.entry_at(lp, --p);
        lp.random_counter -= entry.random_used;
        lp.sequence -= entry.sent_count;
        if (core_.keeper.method(lp) != Rollback::reverse || entry.event->failed) continue;
        Context context = make_context(entry.event->time, lp.id, lp.random_counter);
        std::memcpy(&context.control(), entry.undo(), sizeof(std::uint64_t));
        core_.running = {&group, &lp,           entry.event, &entry, entry.event->key(),
                         true,   "on_reverse()"};
        if (!call_handler_of(lp, undo_guard_, core_.failure,
                             [&] { lp.process->on_reverse(context, entry.event->view()); }))
            fail_undoing(core_.failure);
    }
}

// Executes entries from `from` on to coasting_.to again with sends silenced: same state, same random numbers. Returns
// false where one of them did something else; then coasting_.to is the position of that entry.
bool Worker::coast(LpRecord& lp, History::Ordinal from) {
    for (History::Ordinal p = from; p != coasting_.to; ++p) {
        lp.random_counter -= core_.entry_at(lp, p).random_used;
        lp.sequence -= core_.entry_at(lp, p).sent_count;
    }
    for (History::Ordinal p = from; p != coasting_.to; ++p) {
        HistoryEntry& entry = core_.entry_at(lp, p);
        EventRecord& event = *entry.event;
        if (event.failed) break;
        ++core_.counters[Counter::coasted_events];
        Context context = make_context(event.time, lp.id, lp.random_counter);
        core_.running = {nullptr, &lp, &event, &entry, event.key(), true};
        coasting_.at = p;
        coasting_.sequence = lp.sequence;
        const bool well = call_handler_of(lp, undo_guard_, core_.failure,
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

// Whether the event that is executed again can still be undone. A worker that is alone executes all events in order, and
// undoes only what --check-rollback tries.
bool Worker::is_coasting_ahead() const noexcept {
    return !core_.plan.is_alone() && core_.running.silent && *core_.running.hook == '\0' &&
           !(core_.running.event->bound() < core_.irrevocable_before) &&
           coasting_.at - core_.running.lp->committed <
               core_.running.lp->history.tail() - core_.running.lp->committed;
}

// The LP coasts to that event only, which is undone, too. What is final can be executed again with the same result,
// unless the model is wrong.
void Worker::undo_coasted(std::string_view what) {
    if (!is_coasting_ahead()) fail_undoing(what);
    core_.running.lp->sequence = coasting_.sequence;
    coasting_.to = coasting_.at;
}

// What was running is a handler that went well the first time.
void Worker::fail_undoing(std::string_view what) {
    const std::string call = describe_call(core_.running, core_.plan.kinds);
    if (core_.keeper.method(*core_.running.lp) == Rollback::reverse)
        throw ModelError(call + std::string(what));
    throw ModelError(
        fmt::format("{}executed again from the same state: {}; allowed: handlers that use only "
                    "state that is rolled back",
                    call, what));
}

// --- --check-rollback ------------------------------------------------------------------------------

bool Worker::is_chosen_for_check(const EventRecord& event) const noexcept {
    if (event.rollback_tried) return false;
    Random dice(core_.plan.config.seed, event.sender, event.serial);
    return dice.chance(core_.plan.config.check_rollback);
}

// What is not as it was, in words; empty if all is.
std::string Worker::difference_after_rollback(const LpRecord& lp, const Snapshot& before,
                                              std::uint64_t random_counter,
                                              std::uint32_t sequence) const {
    if (!lp.heap.equals(before)) {
        const std::optional<std::string> where =
            describe_difference(lp.heap, before, lp.process, core_.plan.kinds.object_bytes(lp.kind),
                                core_.rank.stacks());
        if (where) return where->empty() ? "its heap" : *where;
    }
    if (lp.random_counter != random_counter)
        return fmt::format("{} random numbers were drawn and are {} now", random_counter,
                           lp.random_counter);
    if (lp.sequence != sequence)
        return fmt::format("{} events were sent and are {} now", sequence, lp.sequence);
    return {};
}

// Executes the event, takes it back, compares the LP with what it was. The event is pending again
// afterwards and runs for good when it comes up next.
void Worker::check_rollback(Group& group, LpRecord& lp, EventRecord& event) {
    event.rollback_tried = true;
    tried_image_ = lp.heap.take(group.heap);
    const std::uint64_t random_counter = lp.random_counter;
    const std::uint32_t sequence = lp.sequence;
    execute(group, lp, event);
    if (!lp.failed) {
        const History::Ordinal wanted = lp.history.tail() - 1;
        const bool is_there = roll_back(group, lp, wanted) == wanted;
        cancel_processed();
        ++core_.counters[Counter::forced_rollbacks];
        const std::string difference =
            is_there ? difference_after_rollback(lp, *tried_image_, random_counter, sequence) : "";
        if (!difference.empty() && core_.keeper.method(lp) == Rollback::snapshot)
            throw InternalError(describe_event(event, core_.plan.kinds) +
                                "a rollback did not restore the LP's state: " + difference +
                                " (or the model keeps state outside of the LP, or runs threads)");
        if (!difference.empty())
            throw ModelError(describe_event(event, core_.plan.kinds) +
                             "--check-rollback: the state after the rollback differs from the "
                             "state before the event: " +
                             difference);
    }
    drop_tried_image(group);
}

void Worker::drop_tried_image(Group& group) noexcept {
    if (tried_image_ != nullptr) LpHeap::drop(std::exchange(tried_image_, nullptr), group.heap);
}

}  // namespace nw
