// SPDX-License-Identifier: Apache-2.0
// How a worker reads its mail, and how it executes events: irrevocably, or so that they can be
// undone.

#include <cstring>
#include <utility>

#include "api/make_context.hpp"
#include "engine/event_flow.hpp"
#include "engine/handler_call.hpp"
#include "engine/timewarp/parts/handovers.hpp"
#include "engine/timewarp/parts/worker_core_inline.hpp"
#include "engine/timewarp/worker/worker.hpp"
#include "event/mail_ring.hpp"
#include "lp/side_effects.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// Events between two checks of mail and GVT. A turn costs some 50 ns besides its events; that is
// 0.4 % of the time with 128 events of 98 ns (docs/results/cost-model-2026-11-21.md). A straggler
// waits for at most 13 µs, 1/80 of the interval between GVT rounds. In stepped PHOLD, a batch of
// 512 costs up to 69 % more if all events go to other LPs without lookahead; a batch of 32 costs at
// most 1 % more, and 18 % less with 64 LPs (docs/results/constants-2026-11-23.csv).
constexpr std::uint32_t batch_events = 128;
// For a worker that executes all events irrevocably: there are no stragglers, and no history waits
// for a GVT round while it leaves the cache.
constexpr std::uint32_t batch_events_alone = 1024;

}  // namespace

bool Worker::drain_mail() {
    bool has_come = false;
    for (MailRing& ring : core_.rank.rings_to(core_.self.worker))
        has_come |= ring.drain([this](const WireEvent& wire) { receive_or_pass_on(wire); });
    has_come |= nw::drain_mail(
        core_.rank.ready_list(core_.self.worker),
        [this](BottomHalf& mail) { return group_of(mail); },
        [this](const WireEvent& wire, Group& group) { receive(wire, group); });
    marks_.mark(TraceKind::mail, has_come ? 1 : 0);
    return has_come;
}

// If the group now belongs to another worker, passes the mail on to it and returns null.
Group* Worker::group_of(BottomHalf& mail) {
    const std::uint32_t g = mail.group();
    if (owns(g)) [[likely]]
        return core_.rank.group(g);
    core_.rank.pass_on(mail);
    return nullptr;
}

bool Worker::owns(std::uint32_t g) {
    if (core_.rank.owner(g) == core_.self) [[likely]]
        return true;
    handovers_->take_over();
    return core_.rank.owner(g) == core_.self;
}

void Worker::receive_or_pass_on(const WireEvent& wire) {
    const std::uint32_t g = core_.plan.partition.position(wire.target).group;
    if (owns(g)) [[likely]]
        receive(wire, *core_.rank.group(g));
    else
        core_.rank.deliver(reinterpret_cast<const std::byte*>(&wire), wire.bytes());
}

void Worker::receive(const WireEvent& wire, Group& group) {
    NW_CHECK(wire.time >= core_.gvt);
    NW_PARANOID(core_.plan.partition.position(wire.target).group == group.mail.group());
    core_.epochs.receive(wire.epoch);
    // The end of the run is fixed, and this message is beyond it. A rollback would send further
    // anti-messages, and there would always be messages in flight.
    if (standstill_.phase() == Standstill::Phase::draining) return;
    if (wire.kind == WireKind::anti_message) {
        receive_anti_message(wire, group,
                             group.lps[core_.plan.partition.position(wire.target).index]);
        return;
    }
    if (wire.is_irrevocable && short_->push(wire, wire.payload(), pending_)) return;
    EventRecord& event = new_event(group, wire, wire.payload());
    event.from_other_worker = true;
    pending_.push(event.entry());
}

// A straggler is detected when it is the smallest pending event, not when it arrives. Therefore
// several stragglers that arrive together cost one rollback.
bool Worker::execute_batch() {
    marks_.execute_phase();
    if (standstill_.phase() != Standstill::Phase::running) return false;
    const std::uint64_t executed = core_.counters[Counter::executed_events];
    if (is_asked()) [[unlikely]]
        answer(upcoming_event(pending_, core_.counters));
    begin_batch(ending_.knows_end());
    const auto place_of = [this](std::uint32_t id) -> LookAhead::Place {
        const Partition::Position position = core_.plan.partition.position(id);
        Group& group = *core_.rank.group(position.group);
        return {&group, &group.lps[position.index]};
    };
    const LpsAhead lps{core_.plan.kinds, place_of,
                       [this](const LpRecord& lp, const PendingEntry& soon) {
                           if (soon.bound() < core_.safe_before) return;
                           lp.history.prefetch_next(core_.stride);
                           core_.keeper.prefetch_save(lp);
                       }};
    const bool is_irrevocable = is_alone_ && core_.safe_before.time == time_infinity;
    const std::uint32_t allowed =
        throttle_.allowed(is_irrevocable ? batch_events_alone : batch_events);
    std::uint32_t left = allowed;
    Context context = make_context(0, 0, 0, short_->buffer());
    EventBound short_before = short_horizon();
    for (; left > 0 && !leaves_batch([this] { return ending_.is_known(); }); --left) {
        const PendingEntry* top = pending_.top();
        if (top == nullptr) break;
        const bool may_be_short =
            top->bound() < short_before && throttle_.is_within_chain(top->generation);
        if (!may_be_short && throttle_.holds_back(*top)) break;
        const LookAhead::Guess guess = ahead_->find(pending_, top, lps);
        const LookAhead::Place place =
            guess != LookAhead::none ? ahead_->place(guess) : place_of(top->target);
        if (may_be_short && until_timed_ != 1 && is_short_without_past(*place.lp, *top))
            [[likely]] {
            --until_timed_;
            EventRecord& event = short_->rewritten_record_of(*top);
            pending_.pop(top);
            execute_short(*place.group, *place.lp, event, guess, context);
            continue;
        }
        end_short_events(false);
        const PendingEntry entry = *top;
        pending_.pop(top);
        guess_ = guess;
        execute_next(*place.group, *place.lp, entry);
        short_before = short_horizon();
    }
    end_short_events(false);
    guess_ = LookAhead::none;
    throttle_.spend(allowed - left);
    if (core_.counters[Counter::executed_events] >= suggests_round_at_)
        core_.rank.gvt().suggest_round();
    marks_.mark(TraceKind::execute, core_.counters[Counter::executed_events] - executed);
    return left < allowed;
}

// Returns the bound before which short events are irrevocable and within the throttle's horizon.
// Other events may change it.
inline EventBound Worker::short_horizon() const noexcept {
    return is_plain_ ? std::min(core_.safe_before, EventBound(throttle_.horizon())) : EventBound(0);
}

// Called before the first short event after other events, which use the same entry and record. Sets
// everything that execute_short() needs and does not set for each event.
void Worker::begin_short_events() noexcept {
    EventRecord& event = short_->record();
    event.begin();
    event.status = EventStatus::processed;
    safe_entry() = {&event, nullptr, nullptr, 0, 0};
    core_.running = {.event = &event, .entry = &safe_entry()};
}

// Counts the events that execute_short() has executed. `is_failed`: the handler of the last one has
// failed or crashed. Requires: the record of short events still holds the last one.
void Worker::end_short_events(bool is_failed) noexcept {
    if (short_executed_ == 0) return;
    const std::uint32_t executed = std::exchange(short_executed_, 0);
    const std::uint32_t committed = executed - (is_failed ? 1 : 0);
    core_.counters[Counter::executed_events] += executed;
    core_.counters[Counter::safe_events] += committed;
    core_.counters[Counter::committed_events] += committed;
    const EventRecord& last = short_->record();
    core_.lead = last.bound();
    if (!is_failed) committer_.note_committed(last.time);
}

// Whether the event is short, and nothing is kept of its LP's past.
[[gnu::always_inline]] inline bool Worker::is_short_without_past(
    const LpRecord& lp, const PendingEntry& entry) const noexcept {
    return !entry.has_record() && lp.history.empty() && core_.keeper.is_at_start(lp);
}

// As execute_irrevocable() for a short event, in a run without the features that is_plain_
// excludes. The LP's last key stays as it is: no event can precede an irrevocable event.
[[gnu::always_inline]] inline void Worker::execute_short(Group& group, LpRecord& lp,
                                                         EventRecord& event, std::size_t guess,
                                                         Context& context) {
    NW_PARANOID(event.time >= core_.gvt);
    HistoryEntry& entry = safe_entry();
    if (short_executed_++ == 0) [[unlikely]]
        begin_short_events();
    core_.running.group = &group;
    core_.running.lp = &lp;
    short_->send_for(lp.sequence);
    renew(context, event.time, lp.id, lp.random_counter);
    ahead_->give_block(guess, lp.id, lp.random_counter, context.random());
    if (!call_handler_of(lp, core_.guard, core_.failure,
                         [&] { run_on_event(lp, event, context, false); })) [[unlikely]] {
        end_short_events(true);
        fail_running(core_.failure);
        return;
    }
    lp.random_counter = context.random().counter();
    release_short(lp);
    if (entry.sent_count != 0) [[unlikely]] {
        release_sent(entry.sent, pending_);
        entry.sent = nullptr;
        entry.sent_count = 0;
        publish_staged();
    }
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    if (core_.counts_events()) ++core_.figures_of(lp, event.type).committed;
    if (entry.side_effects != nullptr) [[unlikely]]
        committer_.release_side_effects_at_once(group, entry);
    if constexpr (paranoid) check_change(lp);
}

[[gnu::always_inline]] inline void Worker::execute_next(Group& group, LpRecord& lp,
                                                        const PendingEntry& entry) {
    EventRecord& event = short_->record_of(entry);
    if (event.status == EventStatus::cancelled) {
        group.heap.free(&event, event.bytes());
        return;
    }
    if (event.from_other_worker && lp.unmatched_anti_messages > 0 && meets_anti(group, lp, event))
        return;
    NW_CHECK(event.time >= core_.gvt);
    if (before(entry, lp.last_key)) roll_back_before(group, lp, entry.key());
    if (draws_rollbacks_ && is_chosen_for_check(event) && !lp.failed) [[unlikely]] {
        check_rollback(group, lp, on_record(group, event));
    } else if (--until_timed_ == 0) {
        until_timed_ = events_between_timed;
        const EventType type = event.type;  // run_event() frees an irrevocable event
        const bool stands_for_others =
            is_plain_ && entry.bound() < core_.safe_before && is_short_without_past(lp, entry);
        const auto start = GvtRounds::Clock::now();
        run_event(group, lp, event);
        const auto end = GvtRounds::Clock::now();
        group.load.sample(std::chrono::duration<double, std::nano>(end - start).count());
        // execute_short() does not count events for the group. One of events_between_timed events
        // takes this path, and counts for the others.
        if (stands_for_others) group.load.commit(events_between_timed - 1);
        core_.count_time(lp, type, start, end);
    } else {
        run_event(group, lp, event);
    }
    if constexpr (paranoid) check_change(lp);
}

[[gnu::always_inline]] inline void Worker::run_event(Group& group, LpRecord& lp,
                                                     EventRecord& event) {
    if (event.bound() < core_.safe_before && has_no_past(group, lp) &&
        core_.keeper.is_at_start(lp) &&
        !(draws_interruptions_ && is_chosen_for_interruption(event)))
        execute_irrevocable(group, lp, event);
    else
        execute(group, lp, on_record(group, event));
}

// Returns the record of an event for a history. A short event gets one in its group's memory.
[[gnu::always_inline]] inline EventRecord& Worker::on_record(Group& group, EventRecord& event) {
    if (!short_->is_record(event)) return event;
    EventRecord& kept = new_event(group, event, event.payload());
    kept = event;
    return kept;
}

// Whether all events that the LP has executed are committed, after committing those that are final.
// The worker executes before it commits: without this commit, an LP that has speculated once and
// has events in each lookahead would always keep a history.
[[gnu::always_inline]] inline bool Worker::has_no_past(Group& group, LpRecord& lp) {
    if (lp.committed == lp.history.tail()) [[likely]]
        return true;
    committer_.commit_now(group, lp);
    return lp.committed == lp.history.tail();
}

[[gnu::always_inline]] inline void Worker::execute_irrevocable(Group& group, LpRecord& lp,
                                                               EventRecord& event) {
    core_.drop_past(group, lp);
    HistoryEntry& entry = safe_entry();
    begin_execution(lp, event, entry);
    core_.running = {&group, &lp, &event, &entry};
    call_handler(lp, event, entry);
    // If a short event failed, keep_running() has replaced its record: `event` must not be used
    // here.
    if (core_.plan.kinds.has_commit() && !core_.running.event->failed) call_on_commit();
    if (core_.running.event->failed) [[unlikely]]
        return;
    ++core_.counters[Counter::safe_events];
    committer_.commit_at_once(group, lp, entry);
    if (event.lets_end) [[unlikely]]
        ending_.note_end(lp, event.key());
    if (!short_->is_record(event)) group.heap.free(&event, event.bytes());
}

// Not inlined, so that execute_irrevocable() stays small enough to be inlined.
[[gnu::noinline]] void Worker::call_on_commit() {
    core_.running.hook = "on_commit()";
    if (!call_guarded(core_.guard, nullptr, core_.failure,
                      [&] { core_.running.lp->process->on_commit(core_.running.event->view()); }))
        fail_running(core_.failure);
}

// Adds the failed event, which was executed irrevocably, to its LP's history. The failure is
// reported when GVT has passed the event, because an earlier event may fail, too.
void Worker::keep_running() {
    auto& [group, lp, event, entry, hook_key, silent, hook] = core_.running;
    HistoryEntry& kept = lp->history.append(core_.stride, group->heap);
    std::memcpy(&kept, entry, core_.stride);
    entry = &kept;
    event = kept.event = &on_record(*group, *event);
    lp->set_last_key(*event);
    committer_.note_uncommitted(*lp);
    core_.keeper.save(*lp, kept, group->heap);
}

inline void Worker::begin_execution(LpRecord& lp, EventRecord& event, HistoryEntry& entry) {
    entry.event = &event;
    entry.sent = nullptr;
    entry.side_effects = nullptr;
    entry.random_used = 0;
    entry.sent_count = 0;
    event.status = EventStatus::processed;
    event.lets_end = false;
    lp.set_last_key(event);
    core_.lead = event.bound();
    ++core_.counters[Counter::executed_events];
}

void Worker::execute(Group& group, LpRecord& lp, EventRecord& event) {
    HistoryEntry& entry = lp.history.append(core_.stride, group.heap);
    begin_execution(lp, event, entry);
    committer_.note_uncommitted(lp);
    core_.keeper.save(lp, entry, group.heap);
    if (lp.failed) [[unlikely]] {
        // An earlier handler of the LP failed. Either its rollback also undoes this event, or the
        // failure ends the run.
        event.failed = true;
        return;
    }
    core_.running = {&group, &lp, &event, &entry};
    if (draws_interruptions_ && is_chosen_for_interruption(event)) [[unlikely]] {
        defer_running();
        return;
    }
    if (core_.keeper.wants_event_cost(lp)) [[unlikely]] {
        const auto start = GvtRounds::Clock::now();
        call_handler(lp, event, entry);
        core_.keeper.event_cost(
            lp, std::chrono::duration<float, std::nano>(GvtRounds::Clock::now() - start).count());
    } else {
        call_handler(lp, event, entry);
    }
}

[[gnu::always_inline]] inline void Worker::call_handler(LpRecord& lp, EventRecord& event,
                                                        HistoryEntry& entry) {
    // Only the sends of an irrevocable event may be short: other sends are canceled through their
    // records.
    const bool is_irrevocable = is_running_irrevocable();
    short_->send_for(lp.sequence);
    Context context = is_irrevocable
                          ? make_context(event.time, lp.id, lp.random_counter, short_->buffer())
                          : make_context(event.time, lp.id, lp.random_counter);
    ahead_->give_block(guess_, lp.id, lp.random_counter, context.random());
    const bool well = call_handler_of(lp, core_.guard, core_.failure, [&] {
        if (core_.intervals != nullptr) [[unlikely]]
            look_at_intervals(*core_.running.group, lp, event.time);
        entry.random_used = run_on_event(lp, event, context, core_.plan.kinds.has_end_condition());
    });
    if (!well) [[unlikely]] {
        fail_running(core_.failure);
        return;
    }
    if (event.lets_end) [[unlikely]]
        lp.may_have_ended = true;
    lp.random_counter = context.random().counter();
    if (core_.keeper.method(lp) == Rollback::reverse)
        std::memcpy(entry.undo(), &context.control(), sizeof(std::uint64_t));
    if (is_irrevocable) release_short_by_call(lp);
    release_sent(entry.sent, pending_);
    if (!staged_.empty()) publish_staged();
}

[[gnu::always_inline]] inline void Worker::release_short(LpRecord& lp) {
    short_->release(
        lp.serial, pending_,
        [this](std::uint32_t target) {
            return is_alone_ ||
                   core_.rank.owner(core_.plan.partition.position(target).group) == core_.self;
        },
        [this](const EventHeader& header, const std::byte* payload) {
            publish(WireEvent{header, 0, WireKind::event, true, {}}, payload);
        });
}

// Only execute_short() contains release_short() inlined.
[[gnu::noinline]] void Worker::release_short_by_call(LpRecord& lp) { release_short(lp); }

void Worker::leave_crashed() {
    end_short_events(true);
    const std::string what = leave_crashed_handler(core_.guard);
    drop_tried_image(*core_.running.group);
    if (core_.guard.was_interrupted())
        defer_running();
    else
        fail_running(what);
}

// Discards the sends and side effects of the running handler.
void Worker::drop_sends() {
    auto& [group, lp, event, entry, hook_key, silent, hook] = core_.running;
    std::uint32_t beyond_end = entry->sent_count;
    const auto count = [&](VirtualTime time) { beyond_end -= time < core_.plan.until ? 1 : 0; };
    for_each_wire_event(staged_.data(), staged_.size(),
                        [&](const WireEvent& wire) { count(wire.time); });
    staged_.clear();
    lp->sequence -= short_->drop();
    while (EventRecord* sent = entry->sent) {
        count(sent->time);
        entry->sent = sent->next_sent;
        const Partition::Position position = core_.plan.partition.position(sent->target);
        core_.rank.group(position.group)->heap.free(sent, sent->bytes());
    }
    ending_.take_back_beyond_end(beyond_end);
    take_back_looks(*group, *lp, *entry);
    free_side_effects(*entry, group->heap);
    lp->sequence -= entry->sent_count;
    entry->sent_count = 0;
    entry->random_used = 0;
}

// Marks the running event as failed. It stays in the LP's history: a rollback past it undoes it,
// and a commit reports the failure. If on_commit() has failed, the event's sends have already left,
// and nothing will undo it.
void Worker::fail_running(std::string what) {
    if (*core_.running.hook == '\0') {
        drop_sends();
    } else {
        what.insert(0, ": ").insert(0, core_.running.hook);
        HistoryEntry& entry = *core_.running.entry;
        free_side_effects(entry, core_.running.group->heap);
        entry = {entry.event, nullptr, nullptr, 0, 0};
    }
    if (is_running_irrevocable()) keep_running();
    core_.running.event->failed = true;
    core_.running.lp->failed = true;
    ++core_.counters[Counter::failed_speculations];
    SideEffect& message = add_side_effect(*core_.running.entry, SideEffect::Kind::failure,
                                          what.size(), core_.running.group->heap);
    std::memcpy(message.content(), what.data(), what.size());
    if constexpr (paranoid) check_change(*core_.running.lp);
}

}  // namespace nw
