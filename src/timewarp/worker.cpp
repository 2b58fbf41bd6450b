#include "timewarp/worker.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/handoff.hpp"
#include "base/meter_marks.hpp"
#include "engine/event_flow.hpp"
#include "engine/handler_call.hpp"
#include "lp/make_context.hpp"
#include "lp/side_effects.hpp"
#include "stats/live_progress.hpp"
#include "stats/memory_kinds.hpp"
#include "stats/run_history.hpp"
#include "worker/handovers.hpp"
#include "worker/memory_relief.hpp"
#include "worker/relocation.hpp"
#include "worker/worker_core_inline.hpp"

namespace nw {
namespace {

// Events between two looks at the mail and the GVT. What a turn costs beside them, some 50 ns, is 0.4 % of
// the time with 128 events of 98 ns (docs/results/cost-model-2026-11-21.md), and a straggler waits for 13 µs at
// most, an eightieth of the interval between GVT rounds. In stepped PHOLD a batch of 512 costs up to 69 % more
// where all events go to others without lookahead; one of 32 costs at most 1 % more, and 18 % less with 64 LPs
// (docs/results/constants-2026-11-23.csv).
constexpr std::uint32_t batch_events = 128;

}  // namespace

Worker::Worker(Rank& rank, WorkerId id)
    : EventSink(rank.plan().rules, rank.plan().config.seed),
      core_(rank, id),
      memory_relief_(std::make_unique<MemoryRelief>(core_)),
      short_(std::make_unique<ShortEvents>(core_.plan.until, core_.plan.rules.lookahead,
                                           core_.plan.rules.payload_bytes_max)),
      handovers_(std::make_unique<Handovers>(core_, pending_, *short_, committer_, ending_)),
      relocation_(std::make_unique<Relocation>(core_)),
      ahead_(std::make_unique<LookAhead>(core_.plan.config.seed)),
      guess_(LookAhead::none),
      may_interrupt_(!core_.plan.some_roll_back_by(Rollback::reverse) && !core_.plan.is_alone()),
      draws_interruptions_(may_interrupt_ && core_.plan.config.check_interrupt > 0),
      draws_rollbacks_(core_.plan.config.check_rollback > 0),
      is_alone_(core_.plan.is_alone()),
      is_plain_(!draws_interruptions_ && !draws_rollbacks_ &&
                core_.plan.config.checked == nullptr && core_.intervals == nullptr &&
                !core_.plan.kinds.has_commit() && !core_.plan.kinds.has_end_condition()),
      safe_entry_bytes_(std::make_unique<std::byte[]>(core_.stride)),
      until_timed_(rank.rebinding().on() || core_.plan.kinds.counts_events() ? events_between_timed
                                                                             : 0),
      memory_look_(std::make_unique<MemoryLook>()) {}

Worker::~Worker() = default;

bool Worker::turn(Clock::time_point now) {
    if (standstill_.is_at_rest()) return false;
    core_.now = now;
    trace_turn_.begin(now);
    meter_phase<MeterPhase::mail>();
    is_expecting_ = !core_.plan.config.net_thread && core_.rank.net_step(now, trace_turn_);
    relocation_->step();
    meter_phase<MeterPhase::gvt>();
    on_gvt();
    // A handler followed a bad pointer, divided by zero, …: the stack between is gone, what was
    // running stands in core_.running. The turn begins again.
    if (sigsetjmp(core_.guard.env(), 0) != 0) leave_crashed();
    if (handovers_->is_awaiting()) handovers_->take_over();
    meter_phase<MeterPhase::mail>();
    // Always, between learning of a round and handing groups over: a group's new worker may already execute up to that
    // round's horizon (src/worker/rebinding.pml).
    bool worked = drain_mail();
    meter_phase<MeterPhase::execute>();
    worked |= core_.rank.is_congested() || execute_batch();
    meter_phase<MeterPhase::mail>();
    outboxes_.flush(false);
    meter_phase<MeterPhase::gvt>();
    cut();
    meter_phase<MeterPhase::commit>();
    worked |= commit();
    meter_phase<MeterPhase::gvt>();  // and waiting for it
    relieve_memory();
    if (handovers_->is_leaving() && committer_.is_done()) hand_over();
    if (committer_.is_done()) standstill_.settle();
    if (!worked) note_idle();
    if constexpr (paranoid) check_turn();
    return worked;
}

// Only a new GVT (or mail) can change anything here: ask for one now.
void Worker::note_idle() {
    ++core_.counters[Counter::idle_turns];
    core_.rank.gvt().want_round();
    trace_turn_.mark(TraceKind::idle, 1);
}

bool Worker::may_sleep() const noexcept {
    const bool has_cut = core_.epochs.epoch() != core_.epochs.seen();
    return has_cut && !is_expecting_ && core_.rank.may_sleep(core_.self.worker);
}

void Worker::sleep() {
    const auto begun = Clock::now();
    core_.rank.sleep(core_.self.worker, core_.epochs.seen(), throttle_.horizon(), trace_turn_);
    asleep_seconds_ += std::chrono::duration<double>(Clock::now() - begun).count();
    trace_turn_.mark(TraceKind::idle, 1);
}

// --- GVT -------------------------------------------------------------------------------------------

void Worker::on_gvt() {
    if (core_.epochs.seen() == core_.rank.gvt().done()) return;
    note_handoff(Handoff::result_read);
    const GvtResult& result = core_.rank.gvt().result();
    core_.epochs.learn(result.sums);
    NW_CHECK(result.gvt >= core_.gvt);
    core_.gvt = result.gvt;
    core_.irrevocable_before = result.bound();
    run_what_is_certain(result.sums);
    if (core_.self.worker == 0) report_progress(result);
    switch (standstill_.phase()) {
        case Standstill::Phase::running:
            advance(result);
            break;
        case Standstill::Phase::pausing:
            pause_on_gvt(result);
            break;
        default:
            standstill_.on_gvt(result.quiesced);
    }
}

// All workers of all ranks commit what is before the event, since an earlier event may fail, too, and leave the event
// loop. The ranks then agree on the earliest failure (TimeWarpRun::agree_on_failure()).
void Worker::end_failed(const EventKey& failed_at) {
    committer_.begin(failed_at);
    standstill_.begin_end();
    standstill_.wait_for_nothing();
}

void Worker::advance(const GvtResult& result) {
    if (result.sums.failed()) [[unlikely]] {
        end_failed(result.sums.failed_at);
        return;
    }
    // Asked for by everybody in the same round, and granted in the same one.
    const bool is_to_stop =
        (result.sums.stop != 0 || result.sums.save != 0 || result.sums.move != 0) &&
        safe_horizon_.may_stand_still(result);
    outboxes_.on_gvt();
    safe_horizon_.on_gvt(result, handovers_->are_planned());
    throttle_.on_gvt(result, core_.safe_before.time);
    plan_quota(result);
    const bool is_over =
        ending_.on_gvt(result, committer_,
                       is_to_stop ? std::optional(safe_horizon_.stop_bound(result)) : std::nullopt);
    if (is_over) {
        committer_.begin(ending_.final_bound());
        standstill_.begin_end();
        return;
    }
    committer_.go_on(ending_.final_bound());
    // With an end condition GVT may be at the end already: then the next round ends the run.
    if (is_to_stop && core_.gvt < core_.plan.until)
        begin_pause(result);
    else
        handovers_->on_gvt();
}

void Worker::report_progress(const GvtResult& result) {
    const bool is_first = core_.self.rank == 0;
    if (is_first) ++core_.counters[Counter::gvt_rounds];
    if (is_first && core_.rank.balance().is_due(result.sums, core_.now)) standstill_.move_soon();
    const VirtualTime gvt = std::min(core_.gvt, core_.plan.until);
    LiveProgress& progress = core_.rank.progress();
    progress.gvt.store(gvt, std::memory_order_relaxed);
    if (core_.plan.setup.on_gvt) core_.plan.setup.on_gvt(gvt);
    progress.executed_events.store(result.sums.executed, std::memory_order_relaxed);
    progress.committed_events.store(result.sums.committed, std::memory_order_relaxed);
    if (!is_first || !core_.rank.history().is_due(core_.now)) return;
    core_.rank.history().add(core_.now, {.gvt = gvt,
                                         .committed_events = result.sums.committed,
                                         .executed_events = result.sums.executed,
                                         .rolled_back_events = result.sums.rolled_back,
                                         .gvt_rounds = core_.counters[Counter::gvt_rounds],
                                         .resident_bytes = result.sums.resident_bytes,
                                         .window = result.window});
}

// Events beyond GVT, where memory is short: as many as the worker that is shortest of it, on any rank, may
// hold. What one worker executes sends events into the memory of another.
void Worker::plan_quota(const GvtResult& result) {
    const std::uint64_t uncommitted = events_uncommitted();
    memory_relief_->on_gvt(uncommitted, pending_.size());
    const std::uint32_t held_max =
        std::min(memory_relief_->events_ahead_max(), result.sums.events_ahead);
    if (held_max == Throttle::unlimited) [[likely]]
        return;
    throttle_.set_quota(held_max -
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(held_max, uncommitted)));
}

std::uint64_t Worker::events_uncommitted() const noexcept {
    const auto ahead = static_cast<std::int64_t>(core_.counters[Counter::executed_events] -
                                                 core_.counters[Counter::rolled_back_events] -
                                                 core_.counters[Counter::committed_events]) +
                       handovers_->uncommitted_taken_over();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ahead));
}

void Worker::cut() {
    const bool open = core_.rank.gvt().opened() != core_.epochs.epoch();
    if (!open || core_.epochs.epoch() != core_.epochs.seen() || standstill_.nothing_in_flight())
        return;
    if (handovers_->is_under_way()) return;
    outboxes_.flush(true);
    GvtRounds::Part& part = core_.rank.gvt().slot(core_.self.worker);
    outboxes_.take_batches_sent(part.sent);
    Contribution& slot = part.sums;
    slot = {};
    const PendingEntry* top = pending_.top();
    core_.epochs.cut(top != nullptr ? top->bound() : EventBound(), slot);
    slot.put_aside = first_put_aside();
    slot.lead = core_.lead.time;
    slot.executed = core_.counters[Counter::executed_events] - rolled_back_by_pauses_;
    slot.rolled_back = core_.counters[Counter::rolled_back_events] - rolled_back_by_pauses_;
    slot.committed = core_.counters[Counter::committed_events];
    if (core_.self.worker == 0) {
        slot.resident_bytes = core_.rank.memory_budget().used_bytes();
        slot.load = slot.load_most = core_.rank.rebinding().load();
    }
    if (core_.self.rank == 0 && core_.self.worker == 0)
        slot.clock_ns = static_cast<std::uint64_t>(
            std::chrono::nanoseconds(core_.now.time_since_epoch() - standstill_.time_paused())
                .count());
    slot.not_ended = ending_.lps_not_ended();
    slot.end_key = ending_.last_key();
    slot.sent_beyond_end = ending_.sent_beyond_end();
    slot.events_ahead = memory_relief_->events_ahead_max();
    slot.stop = static_cast<std::uint64_t>(core_.rank.stop_signal());
    slot.save = standstill_.is_save_due() ? 1 : 0;
    slot.move = standstill_.is_move_due() ? 1 : 0;
    slot.irrevocable_before = safe_horizon_.irrevocable_before();
    slot.splits_time = safe_horizon_.splits_time() ? 1 : 0;
    if (core_.rank.model_failed()) slot.failed_at = core_.rank.model_failed_at();
    note_handoff(Handoff::cut_made);
    core_.rank.gvt().arrive(core_.self.worker);
    const std::uint32_t interval = core_.plan.config.gvt_interval_events;
    if (interval > 0) suggests_round_at_ = core_.counters[Counter::executed_events] + interval;
    trace_turn_.mark(TraceKind::cut, 1);
}

bool Worker::commit() {
    const bool committed = committer_.step(memory_relief_->is_low());
    meter_mark<MeterMark::commits>(core_.counters[Counter::committed_events], 0);
    if (committed && committer_.is_done() && memory_look_->is_due(core_.now))
        memory_look_->look(core_.now, core_.groups, core_.keeper.bytes());
    trace_turn_.mark(TraceKind::commit, committed ? 1 : 0);
    return committed;
}

void Worker::relieve_memory() {
    const MemoryBudget::Level level = core_.rank.memory_budget().level(core_.now);
    if (level == MemoryBudget::Level::full) throttle_.stay_at_gvt_for_memory();
    if (level != MemoryBudget::Level::ample) [[unlikely]]
        memory_relief_->give_back(level);
    memory_relief_->trim_mail();
}

void Worker::hand_over() {
    const std::vector<std::uint32_t> new_workers = handovers_->new_workers();
    give_back_put_aside(new_workers);
    ahead_->forget();
    handovers_->hand_over(new_workers);
}

// --- Mail and events -------------------------------------------------------------------------------

bool Worker::drain_mail() {
    const bool has_come = nw::drain_mail(
        core_.rank.ready_list(core_.self.worker),
        [this](BottomHalf& mail) { return group_of(mail); },
        [this](const WireEvent& wire, Group& group) { receive(wire, group); });
    trace_turn_.mark(TraceKind::mail, has_come ? 1 : 0);
    return has_come;
}

// Null: the group is another worker's by now, which learns that there is mail for it.
Group* Worker::group_of(BottomHalf& mail) {
    const std::uint32_t g = mail.group();
    if (!(core_.rank.owner(g) == core_.self)) [[unlikely]] {
        handovers_->take_over();
        if (!(core_.rank.owner(g) == core_.self)) {
            core_.rank.pass_on(mail);
            return nullptr;
        }
    }
    return core_.rank.group(g);
}

void Worker::receive(const WireEvent& wire, Group& group) {
    NW_CHECK(wire.time >= core_.gvt);
    NW_PARANOID(core_.plan.partition.position(wire.target).group == group.mail.group());
    core_.epochs.receive(wire.epoch);
    // The end stands: this is beyond it. Taking it back would send further anti-messages, and the
    // messages in flight would never end.
    if (standstill_.phase() == Standstill::Phase::draining) return;
    if (wire.kind == WireKind::anti_message) {
        receive_anti_message(wire, group,
                             group.lps[core_.plan.partition.position(wire.target).index]);
        return;
    }
    EventRecord& event = new_event(group, wire, wire.payload());
    event.from_other_worker = true;
    pending_.push(event.entry());
}

// A straggler is noticed here, when it comes up as the smallest, and not when it arrives: several of
// them cost one rollback.
bool Worker::execute_batch() {
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
                           if (!(soon.bound() < core_.safe_before))
                               lp.history.prefetch_next(core_.stride);
                       }};
    const std::uint32_t allowed = throttle_.allowed(batch_events);
    std::uint32_t left = allowed;
    Context context = make_context(0, 0, 0, short_->buffer());
    for (; left > 0 && !leaves_batch([this] { return ending_.is_known(); }); --left) {
        const PendingEntry* top = pending_.top();
        if (top == nullptr || throttle_.holds_back(*top)) break;
        const LookAhead::Guess guess = ahead_->find(pending_, top, lps);
        const LookAhead::Place place =
            guess != LookAhead::none ? ahead_->place(guess) : place_of(top->target);
        if (is_plain_ && until_timed_ != 1 && is_irrevocable(*place.lp, *top)) [[likely]] {
            --until_timed_;
            EventRecord& event = short_->record_of(*top);
            pending_.pop(top);
            execute_short(*place.group, *place.lp, event, guess, context);
            continue;
        }
        const PendingEntry entry = *top;
        pending_.pop(top);
        guess_ = guess;
        execute_next(*place.group, *place.lp, entry);
    }
    guess_ = LookAhead::none;
    throttle_.spend(allowed - left);
    if (core_.counters[Counter::executed_events] >= suggests_round_at_)
        core_.rank.gvt().suggest_round();
    trace_turn_.mark(TraceKind::execute, core_.counters[Counter::executed_events] - executed);
    return left < allowed;
}

// Whether the event is short, nothing can come before it any more, and nothing is kept of its LP's past.
[[gnu::always_inline]] inline bool Worker::is_irrevocable(
    const LpRecord& lp, const PendingEntry& entry) const noexcept {
    return !entry.has_record() && entry.bound() < core_.safe_before && lp.history.empty() &&
           core_.keeper.is_at_start(lp);
}

// execute_for_good() of a short event, for a run without the features that is_plain_ excludes.
[[gnu::always_inline]] inline void Worker::execute_short(Group& group, LpRecord& lp,
                                                         EventRecord& event, std::size_t guess,
                                                         Context& context) {
    NW_CHECK(event.time >= core_.gvt);
    HistoryEntry& entry = safe_entry();
    begin_execution(lp, event, entry);
    core_.running = {&group, &lp, &event, &entry, event.key()};
    short_->send_for(lp.sequence);
    renew(context, event.time, lp.id, lp.random_counter);
    ahead_->give_block(guess, lp.id, lp.random_counter, context.random());
    if (!call_handler_of(lp, core_.guard, core_.failure,
                         [&] { run_on_event(lp, event, context, false); })) [[unlikely]] {
        fail_running(core_.failure);
        return;
    }
    lp.random_counter = context.random().counter();
    release_short(lp);
    release_sent(entry.sent, pending_);
    if (!staged_.empty()) [[unlikely]]
        publish_staged();
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    committer_.note_committed(event.time);
    ++core_.counters[Counter::safe_events];
    ++core_.counters[Counter::committed_events];
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
        const EventType type = event.type;  // what runs for good is freed
        const auto start = GvtRounds::Clock::now();
        run_event(group, lp, event);
        const auto end = GvtRounds::Clock::now();
        group.load.sample(std::chrono::duration<double, std::nano>(end - start).count());
        // execute_short() does not touch the group: this event stands for those that were not timed.
        if (is_plain_) group.load.commit(events_between_timed - 1);
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
        execute_for_good(group, lp, event);
    else
        execute(group, lp, on_record(group, event));
}

// The record of an event that a history keeps. A short event gets one in its group's memory.
[[gnu::always_inline]] inline EventRecord& Worker::on_record(Group& group, EventRecord& event) {
    if (!short_->is_record(event)) return event;
    EventRecord& kept = new_event(group, event, event.payload());
    kept = event;
    return kept;
}

// Whether every event that the LP has executed is committed. The worker executes before it commits. So an LP that has
// events in each lookahead, and has speculated once, would keep a past for ever if its past were not committed here.
[[gnu::always_inline]] inline bool Worker::has_no_past(Group& group, LpRecord& lp) {
    if (lp.committed == lp.history.tail()) [[likely]]
        return true;
    committer_.commit_now(group, lp);
    return lp.committed == lp.history.tail();
}

[[gnu::always_inline]] inline void Worker::execute_for_good(Group& group, LpRecord& lp,
                                                            EventRecord& event) {
    core_.drop_past(group, lp);
    HistoryEntry& entry = safe_entry();
    begin_execution(lp, event, entry);
    core_.running = {&group, &lp, &event, &entry, event.key()};
    call_handler(lp, event, entry);
    // keep_running() has given a failed short event a new record: `event` is not used here.
    if (core_.plan.kinds.has_commit() && !core_.running.event->failed) call_on_commit();
    if (core_.running.event->failed) [[unlikely]]
        return;
    ++core_.counters[Counter::safe_events];
    committer_.commit_at_once(group, lp, entry);
    if (event.lets_end) [[unlikely]]
        ending_.note_end(lp, event.key());
    if (!short_->is_record(event)) group.heap.free(&event, event.bytes());
}

// Apart, so that execute_for_good stays small enough to be inlined.
[[gnu::noinline]] void Worker::call_on_commit() {
    core_.running.hook = "on_commit()";
    if (!call_guarded(core_.guard, nullptr, core_.failure,
                      [&] { core_.running.lp->process->on_commit(core_.running.event->view()); }))
        fail_running(core_.failure);
}

// What a handler did that was to be executed for good becomes an entry like others, which is reported
// when GVT has passed it: an earlier event may fail, too.
void Worker::keep_running() {
    auto& [group, lp, event, entry, key, silent, hook] = core_.running;
    HistoryEntry& kept = lp->history.append(core_.stride, group->heap);
    std::memcpy(&kept, entry, core_.stride);
    entry = &kept;
    event = kept.event = &on_record(*group, *event);
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
        // An earlier handler failed. Either that is undone, and this with it, or it ends the run.
        event.failed = true;
        return;
    }
    core_.running = {&group, &lp, &event, &entry, event.key()};
    if (draws_interruptions_ && is_chosen_for_interruption(event)) [[unlikely]] {
        put_aside_running();
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
    // Only events of a handler that will not be undone may be short: others are cancelled by their records.
    const bool is_for_good = is_running_for_good();
    short_->send_for(lp.sequence);
    Context context = is_for_good
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
    if (is_for_good) release_short_by_call(lp);
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
            publish(WireEvent{header, 0, WireKind::event, {}}, payload);
        });
}

// Only execute_short() has it inlined.
[[gnu::noinline]] void Worker::release_short_by_call(LpRecord& lp) { release_short(lp); }

void Worker::leave_crashed() {
    const std::string what = leave_crashed_handler(core_.guard);
    drop_tried_image(*core_.running.group);
    if (core_.guard.was_interrupted())
        put_aside_running();
    else
        fail_running(what);
}

// What the running handler sent never leaves.
void Worker::drop_sends() {
    auto& [group, lp, event, entry, key, silent, hook] = core_.running;
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

// The event stays in the history as failed: undone with its LP's next rollback past it, reported if
// it is committed. Where on_commit() has failed what the event sent is on its way, and nothing will undo it.
void Worker::fail_running(std::string what) {
    if (*core_.running.hook == '\0') {
        drop_sends();
    } else {
        what.insert(0, ": ").insert(0, core_.running.hook);
        HistoryEntry& entry = *core_.running.entry;
        free_side_effects(entry, core_.running.group->heap);
        entry = {entry.event, nullptr, nullptr, 0, 0};
    }
    if (is_running_for_good()) keep_running();
    core_.running.event->failed = true;
    core_.running.lp->failed = true;
    ++core_.counters[Counter::failed_speculations];
    SideEffect& message = add_side_effect(*core_.running.entry, SideEffect::Kind::failure,
                                          what.size(), core_.running.group->heap);
    std::memcpy(message.content(), what.data(), what.size());
    if constexpr (paranoid) check_change(*core_.running.lp);
}

}  // namespace nw
