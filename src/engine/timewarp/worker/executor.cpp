// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/executor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/make_context.hpp"
#include "engine/event_flow.hpp"
#include "engine/handler_call.hpp"
#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/sends.hpp"
#include "engine/timewarp/worker/throttle.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/side_effects.hpp"
#include "memory/handler/warm_up.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// Events between two checks of mail and GVT. A turn costs some 50 ns besides its events; that is
// 0.4 % of the time with 128 events of 98 ns (docs/results/cost-model-2026-11-21.md). A straggler
// waits for at most 13 µs, which is 1/80 of the interval between GVT rounds. In stepped PHOLD, a
// batch of 512 events costs up to 69 % more than a batch of 128 events if all events go to other
// LPs and the lookahead is 0. A batch of 32 events costs at most 1 % more, and with 64 LPs 18 %
// less (docs/results/constants-2026-11-23.csv).
constexpr std::uint32_t batch_events = 128;
// Replaces batch_events for a worker that executes all events irrevocably. Such a worker receives
// no stragglers. It also keeps no history, so a longer batch cannot push a history out of the
// cache.
constexpr std::uint32_t batch_events_alone = 1024;

}  // namespace

Executor::Executor(WorkerCore& core, Throttle& throttle, Committer& committer, Ending& ending,
                   Sends& sends, Rollbacks& rollbacks)
    : core_(core),
      throttle_(throttle),
      committer_(committer),
      ending_(ending),
      sends_(sends),
      rollbacks_(rollbacks),
      check_(core, rollbacks),
      logged_(core, committer, sends),
      ahead_(core.plan.config.seed),
      guess_(EventPrefetcher::none),
      context_(sends.make_context(0, 0, 0, core.short_events.buffer())),
      until_timed_(
          core.rank.rebinding().on() || core.plan.kinds.counts_events() ? events_between_timed : 0),
      draws_deferrals_(rollbacks.deferrals().draws()),
      is_plain_(!draws_deferrals_ && !check_.is_on() && core.plan.config.checked == nullptr &&
                core.intervals == nullptr && !core.plan.kinds.has_commit() &&
                !core.plan.kinds.has_end_condition()),
      logs_at_once_(core.uses_log && !draws_deferrals_ && !check_.is_on()) {}

void Executor::adopt_thread() {
    warm_up();
    core_.rank.stacks()[core_.self.worker] = own_stack();
    core_.rank.make_rings_to(core_.self.worker);
    core_.guard.adopt_thread();
    rollbacks_.adopt_thread();
    WatchedThread::adopt_thread();
}

void Executor::join_thread() noexcept {
    core_.guard.join_thread();
    rollbacks_.join_thread();
    WatchedThread::join_thread();
}

void Executor::suggest_round_after(std::uint32_t events) noexcept {
    if (events > 0) suggests_round_at_ = core_.counters[Counter::executed_events] + events;
}

// --- A batch -------------------------------------------------------------------------------------

bool Executor::execute_batch() {
    core_.marks.execute_phase();
    const std::uint64_t executed = core_.counters[Counter::executed_events];
    if (is_requested()) [[unlikely]]
        answer(upcoming_event(core_.pending, core_.counters));
    begin_batch(ending_.has_end());
    const bool is_irrevocable = core_.is_alone && core_.safe_before.time == time_infinity;
    const std::uint32_t allowed =
        throttle_.allowed(is_irrevocable ? batch_events_alone : batch_events);
    left_ = allowed;
    // The jump out of a handler that crashed or was interrupted ends here. The handler's stack
    // frames are gone; core_.running describes its call. The batch continues with the next event.
    if (sigsetjmp(core_.guard.env(), 0) != 0) leave_crashed();
    execute_events();
    throttle_.spend(allowed - left_);
    if (core_.counters[Counter::executed_events] >= suggests_round_at_)
        core_.rank.gvt().suggest_round();
    core_.marks.mark(TraceKind::execute, core_.counters[Counter::executed_events] - executed);
    return left_ < allowed;
}

// Executes events until the batch is complete or the next event must wait. Not inlined, because
// execute_batch() calls sigsetjmp(), and a compiler keeps no variable of such a function in a
// register.
[[gnu::noinline]] void Executor::execute_events() {
    const auto place_of = [this](std::uint32_t id) -> EventPrefetcher::Place {
        const Partition::Position position = core_.plan.partition.position(id);
        Group& group = *core_.rank.group(position.group);
        return {&group, &group.lps[position.index]};
    };
    const LpsAhead lps{core_.plan.kinds, place_of,
                       [this](const LpRecord& lp, const PendingEntry& soon) {
                           if (soon.bound() < core_.safe_before) return;
                           if (!core_.uses_log || !lp.history.empty())
                               lp.history.prefetch_next(core_.stride);
                           core_.keeper.prefetch_save(lp);
                       }};
    EventBound short_before = short_horizon();
    const bool may_undo = may_undo_events();
    while (left_ > 0 && !leaves_batch([this] { return ending_.is_known(); })) {
        const PendingEntry* top = core_.pending.top();
        if (top == nullptr) break;
        const bool may_be_short =
            top->bound() < short_before && throttle_.is_within_chain(top->generation);
        if (!may_be_short && throttle_.holds_back(*top)) break;
        --left_;
        const EventPrefetcher::Guess guess = ahead_.find(core_.pending, top, lps);
        const EventPrefetcher::Place place = ahead_.place(guess);
        if (may_be_short && until_timed_ != 1 && is_short_without_past(*place.lp, *top, may_undo))
            [[likely]] {
            --until_timed_;
            EventRecord& event = core_.short_events.rewritten_record_of(*top);
            core_.pending.pop(top);
            execute_short(*place.group, *place.lp, event, guess);
            continue;
        }
        end_short_events(false);
        if (logs_at_once_ && until_timed_ != 1 && !top->has_record() &&
            !(top->bound() < core_.safe_before) && !before(*top, place.lp->last_key) &&
            place.lp->unmatched_anti_messages == 0 && may_be_logged(*place.lp, *top)) [[likely]] {
            --until_timed_;
            EventRecord& event = core_.short_events.record_of(*top);
            core_.pending.pop(top);
            execute_logged(*place.group, *place.lp, event, guess);
            continue;
        }
        const PendingEntry entry = *top;
        core_.pending.pop(top);
        guess_ = guess;
        execute_next(*place.group, *place.lp, entry);
        short_before = short_horizon();
    }
    end_short_events(false);
    guess_ = EventPrefetcher::none;
}

// Continues after a handler that crashed or was interrupted: removes the data that the handler has
// left in the thread, and marks the event as failed or defers it. The caller then executes the rest
// of the batch.
void Executor::leave_crashed() {
    end_short_events(true);
    const std::string what = leave_crashed_handler(core_.guard);
    check_.drop(*core_.running.group);
    if (core_.guard.was_interrupted())
        defer_running();
    else
        fail_running(what);
}

// --- Short events --------------------------------------------------------------------------------

// Returns the bound before which short events are irrevocable and within the throttle's horizon.
// Other events may change this bound.
inline EventBound Executor::short_horizon() const noexcept {
    return is_plain_ ? std::min(core_.safe_before, EventBound(throttle_.horizon())) : EventBound(0);
}

// Called before a short event that follows other events, because other events use the same entry
// and record. Sets everything that execute_short() needs and does not set for each event.
void Executor::begin_short_events() noexcept {
    EventRecord& event = core_.short_events.record();
    event.begin();
    event.status = EventStatus::processed;
    core_.irrevocable_entry() = {&event, nullptr, nullptr, 0, 0};
    core_.running = {.event = &event, .entry = &core_.irrevocable_entry()};
}

// Counts the events that execute_short() has executed. `is_failed`: the handler of the last event
// has failed or crashed. Requires: the record of short events still contains the last event.
void Executor::end_short_events(bool is_failed) noexcept {
    if (short_executed_ == 0) return;
    const std::uint32_t executed = std::exchange(short_executed_, 0);
    const std::uint32_t committed = executed - (is_failed ? 1 : 0);
    core_.counters[Counter::executed_events] += executed;
    core_.counters[Counter::safe_events] += committed;
    core_.counters[Counter::committed_events] += committed;
    const EventRecord& last = core_.short_events.record();
    core_.lead = last.bound();
    if (!is_failed) committer_.note_committed(last.time);
}

// Returns whether this batch may meet data to undo events, or an anti-message. Returns false if the
// worker is alone and executes all events irrevocably, the log is empty, and the worker has never
// canceled an event.
bool Executor::may_undo_events() const noexcept {
    return !core_.is_alone || core_.safe_before.time != time_infinity || !core_.log.empty() ||
           core_.counters[Counter::anti_messages] != 0;
}

// Whether the event is short and nothing is kept about earlier events of its LP: no history, no
// entry in the log, no waiting anti-message, no saved state. `may_undo`: may_undo_events().
[[gnu::always_inline]] inline bool Executor::is_short_without_past(const LpRecord& lp,
                                                                   const PendingEntry& entry,
                                                                   bool may_undo) const noexcept {
    return !entry.has_record() && lp.history.empty() &&
           (!may_undo || (lp.unmatched_anti_messages == 0 && !core_.log.contains_events_of(lp))) &&
           core_.keeper.is_at_start(lp);
}

// Does the same as execute_irrevocable(), but only for short events, and only if is_plain_ is true.
// The LP's last key stays as it is: no event can precede an irrevocable event.
[[gnu::always_inline]] inline void Executor::execute_short(Group& group, LpRecord& lp,
                                                           EventRecord& event,
                                                           EventPrefetcher::Guess guess) {
    NW_PARANOID(event.time >= core_.gvt);
    HistoryEntry& entry = core_.irrevocable_entry();
    if (short_executed_++ == 0) [[unlikely]]
        begin_short_events();
    core_.running.group = &group;
    core_.running.lp = &lp;
    core_.short_events.send_for(lp.sequence);
    Sends::renew(context_, event.time, lp.id, lp.random_counter);
    ahead_.give_block(guess, lp.random_counter, context_.random());
    std::uint32_t random_used = 0;
    if (!call_handler_of(lp, core_.guard, core_.failure, [&] {
            random_used = run_on_event(lp, event, context_, false);
        })) [[unlikely]] {
        end_short_events(true);
        fail_running(core_.failure);
        return;
    }
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    lp.random_counter += random_used;
    Sends::release_short<true>(core_, sends_, lp);
    if (entry.sent_count != 0) [[unlikely]] {
        sends_.release(entry);
        entry.sent = nullptr;
        entry.sent_count = 0;
    }
    if (core_.counts_events()) ++core_.figures_of(lp, event.type).committed;
    if (entry.side_effects != nullptr) [[unlikely]]
        committer_.release_side_effects_at_once(group, entry);
    if constexpr (paranoid) check_change(lp);
}

// Not inlined, because execute_short() already contains a copy of this code.
[[gnu::noinline]] void Executor::release_short_by_call(LpRecord& lp) {
    Sends::release_short<true>(core_, sends_, lp);
}

// --- All events ----------------------------------------------------------------------------------

[[gnu::always_inline]] inline void Executor::execute_next(Group& group, LpRecord& lp,
                                                          const PendingEntry& entry) {
    EventRecord& event = core_.short_events.record_of(entry);
    if (rollbacks_.drop_if_canceled(group, lp, event)) return;
    NW_CHECK(event.time >= core_.gvt);
    if (before(entry, lp.last_key)) rollbacks_.roll_back_before(group, lp, entry.key());
    if (check_.is_on() && check_.chooses(lp, event)) [[unlikely]] {
        EventRecord& kept = keep_record(core_.short_events, group, event);
        check_.begin(group, lp, kept);
        execute(group, lp, kept);
        check_.end(group, lp, kept);
    } else if (--until_timed_ == 0) {
        run_timed(group, lp, entry, event);
    } else {
        run_event(group, lp, event);
    }
    if constexpr (paranoid) check_change(lp);
}

// Executes an event and measures its time. It is called for one of events_between_timed events, and
// the time is used for all of these events.
void Executor::run_timed(Group& group, LpRecord& lp, const PendingEntry& entry,
                         EventRecord& event) {
    until_timed_ = events_between_timed;
    const EventType type = event.type;  // run_event() frees an irrevocable event
    const bool counts_for_others =
        is_plain_ && entry.bound() < core_.safe_before && is_short_without_past(lp, entry, true);
    const PastLog::Offset logged = core_.log.tail();
    const auto start = GvtRounds::Clock::now();
    run_event(group, lp, event);
    const auto end = GvtRounds::Clock::now();
    if (core_.log.tail() != logged) core_.log.newest().flags |= LogEntry::timed;
    group.load.sample(std::chrono::duration<double, std::nano>(end - start).count());
    // execute_short() does not count events for the group. run_timed() executes one in
    // events_between_timed events, and here adds the other events.
    if (counts_for_others) group.load.commit(events_between_timed - 1);
    core_.count_time(lp, type, start, end);
}

[[gnu::always_inline]] inline void Executor::run_event(Group& group, LpRecord& lp,
                                                       EventRecord& event) {
    const bool is_chosen = draws_deferrals_ && rollbacks_.deferrals().chooses(event);
    if (event.bound() < core_.safe_before && has_no_past(group, lp) &&
        core_.keeper.is_at_start(lp) && !is_chosen)
        execute_irrevocable(group, lp, event);
    else if (core_.uses_log && !is_chosen && may_be_logged(lp, event))
        execute_logged_by_call(group, lp, event);
    else
        execute(group, lp, keep_record(core_.short_events, group, event));
}

// Whether the event may get an entry in the log. Requires: the event is not before the LP's last
// event. The log is in the order of events. Therefore, after a rollback, events before the newest
// entry of the log get entries in histories.
template <class Event>
[[gnu::always_inline]] inline bool Executor::may_be_logged(const LpRecord& lp,
                                                           const Event& event) const noexcept {
    return !lp.has_uncommitted && core_.log.may_append(event) && core_.keeper.suits_log(lp);
}

// Commits final events if the LP has any. Returns whether all events that the LP has executed are
// then committed. In a turn, the worker executes events before it commits. Suppose that an LP has
// once executed an event that may be undone, and that it has an event in each period of the length
// of the lookahead. Without the commit in this function, the LP would have uncommitted events at
// each next event, and would never execute an event irrevocably again.
[[gnu::always_inline]] inline bool Executor::has_no_past(Group& group, LpRecord& lp) {
    const auto has_none = [&] {
        return lp.committed == lp.history.tail() && !core_.log.contains_events_of(lp);
    };
    if (has_none()) [[likely]]
        return true;
    committer_.commit_now(group, lp);
    return has_none();
}

[[gnu::always_inline]] inline void Executor::execute_irrevocable(Group& group, LpRecord& lp,
                                                                 EventRecord& event) {
    core_.drop_past(group, lp);
    HistoryEntry& entry = core_.irrevocable_entry();
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
    if (!core_.short_events.is_record(event)) free_event(group, event);
}

// Not inlined, so that the code is not copied into each caller.
[[gnu::noinline]] void Executor::call_on_commit() {
    core_.running.hook = "on_commit()";
    if (!call_guarded(core_.guard, nullptr, core_.failure,
                      [&] { core_.running.lp->process->on_commit(core_.running.event->view()); }))
        fail_running(core_.failure);
}

void Executor::execute(Group& group, LpRecord& lp, EventRecord& event) {
    committer_.take_into_history(group, lp);
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
    if (draws_deferrals_ && rollbacks_.deferrals().chooses(event)) [[unlikely]] {
        defer_running();
        return;
    }
    if (StateKeeper::wants_event_cost(lp, lp.history.tail() - 1)) [[unlikely]] {
        const auto start = GvtRounds::Clock::now();
        call_handler(lp, event, entry);
        core_.keeper.event_cost(
            lp, std::chrono::duration<float, std::nano>(GvtRounds::Clock::now() - start).count());
    } else {
        call_handler(lp, event, entry);
    }
}

inline void Executor::begin_execution(LpRecord& lp, EventRecord& event, HistoryEntry& entry) {
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

[[gnu::always_inline]] inline void Executor::call_handler(LpRecord& lp, EventRecord& event,
                                                          HistoryEntry& entry) {
    // Only an irrevocable event may send short events here: the events that another event sends are
    // canceled through their records.
    const bool is_irrevocable = core_.is_running_irrevocable();
    core_.short_events.send_for(lp.sequence);
    Context context = is_irrevocable ? sends_.make_context(event.time, lp.id, lp.random_counter,
                                                           core_.short_events.buffer())
                                     : sends_.make_context(event.time, lp.id, lp.random_counter);
    NW_PARANOID(ahead_.is_for(guess_, lp.id));
    ahead_.give_block(guess_, lp.random_counter, context.random());
    const bool well = call_handler_of(lp, core_.guard, core_.failure, [&] {
        if (core_.intervals != nullptr) [[unlikely]]
            sends_.add_figures(*core_.running.group, lp, event.time);
        entry.random_used = run_on_event(lp, event, context, core_.plan.kinds.has_end_condition());
    });
    if (!well) [[unlikely]] {
        fail_running(core_.failure);
        return;
    }
    if (event.lets_end) [[unlikely]]
        lp.may_have_ended = true;
    lp.random_counter += entry.random_used;
    StateKeeper::save_control(core_.keeper.rules_of(lp), entry.undo(), context.control());
    if (is_irrevocable) release_short_by_call(lp);
    sends_.release(entry);
}

// --- Events that may be undone, in the log -------------------------------------------------------

// Only execute_events() and this function contain the code of execute_logged().
[[gnu::noinline]] void Executor::execute_logged_by_call(Group& group, LpRecord& lp,
                                                        EventRecord& event) {
    NW_PARANOID(ahead_.is_for(guess_, lp.id));
    execute_logged(group, lp, event, guess_);
}

[[gnu::always_inline]] inline void Executor::execute_logged(Group& group, LpRecord& lp,
                                                            EventRecord& event,
                                                            EventPrefetcher::Guess guess) {
    if (!logged_.begin(group, lp, event)) [[unlikely]] {
        guess_ = guess;
        execute(group, lp, keep_record(core_.short_events, group, event));
        return;
    }
    event.status = EventStatus::processed;
    event.lets_end = false;
    lp.set_last_key(event);
    core_.lead = event.bound();
    ++core_.counters[Counter::executed_events];
    core_.short_events.send_for(lp.sequence);
    Sends::renew(context_, event.time, lp.id, lp.random_counter);
    ahead_.give_block(guess, lp.random_counter, context_.random());
    std::uint32_t random_used = 0;
    if (!call_handler_of(lp, core_.guard, core_.failure, [&] {
            if (core_.intervals != nullptr) [[unlikely]]
                sends_.add_figures(group, lp, event.time);
            random_used = run_on_event(lp, event, context_, false);
        })) [[unlikely]] {
        fail_running(core_.failure);
        return;
    }
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    logged_.end(lp, event, context_, random_used);
    if constexpr (paranoid) check_change(lp);
}

// --- Failures ------------------------------------------------------------------------------------

void Executor::defer_running() {
    sends_.drop();
    logged_.keep();
    rollbacks_.deferrals().add_running();
}

// Marks the running event as failed. The event stays in the LP's history: a rollback may undo the
// event, and a commit reports the failure. If on_commit() has failed, the event's sends have
// already left, and nothing will undo the event.
void Executor::fail_running(std::string what) {
    if (*core_.running.hook == '\0') {
        sends_.drop();
    } else {
        what.insert(0, ": ").insert(0, core_.running.hook);
        HistoryEntry& entry = *core_.running.entry;
        free_side_effects(entry, core_.running.group->heap);
        entry = {entry.event, nullptr, nullptr, 0, 0};
    }
    if (core_.is_running_irrevocable()) keep_running();
    logged_.keep();
    core_.running.event->failed = true;
    core_.running.lp->failed = true;
    ++core_.counters[Counter::failed_speculations];
    SideEffect& message = add_side_effect(*core_.running.entry, SideEffect::Kind::failure,
                                          what.size(), core_.running.group->heap);
    std::memcpy(message.content(), what.data(), what.size());
    if constexpr (paranoid) check_change(*core_.running.lp);
}

// Adds the failed event, which was executed irrevocably, to its LP's history. The failure is
// reported when GVT has passed the event, because an earlier event may fail, too.
void Executor::keep_running() {
    auto& [group, lp, event, entry, hook_key, silent, hook] = core_.running;
    core_.drop_history(*group, *lp);
    HistoryEntry& kept = lp->history.append(core_.stride, group->heap);
    std::memcpy(&kept, entry, core_.stride);
    entry = &kept;
    event = kept.event = &keep_record(core_.short_events, *group, *event);
    lp->set_last_key(*event);
    committer_.note_uncommitted(*lp);
    core_.keeper.save_failed(*lp, kept, group->heap);
}

// --- Watched thread ------------------------------------------------------------------------------

RunningHandler Executor::running_handler() const noexcept {
    RunningHandler handler = core_.running.handler();
    if (const EventRecord* event = core_.running.event)
        handler.irrevocable = !rollbacks_.deferrals().is_possible() ||
                              core_.is_running_irrevocable() || event->irrevocable ||
                              (core_.running.silent && !rollbacks_.is_coasting_ahead()) ||
                              *core_.running.hook != '\0';
    return handler;
}

void Executor::check_change(const LpRecord& lp) {
    core_.check_change(lp, rollbacks_.is_canceling());
}

}  // namespace nw
