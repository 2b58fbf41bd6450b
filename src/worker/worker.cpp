#include "worker/worker.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/prefetch.hpp"
#include "engine/handler_call.hpp"
#include "engine/lp_building.hpp"
#include "numa/handler/heap_scope.hpp"
#include "numa/handler/warm_up.hpp"

namespace nw {
namespace {

// Events between two looks at the mail and the GVT: long enough to hide what a turn costs beside
// them (some 50 ns), short enough that a straggler does not wait. Unmeasured guess.
constexpr std::uint32_t batch_events = 128;

// How far ahead in the sorted run things are fetched into the cache; see prefetch_upcoming().
constexpr std::size_t prefetch_far = 12;
constexpr std::size_t prefetch_near = 4;

// One execution in so many is timed, for the load of its group: two looks at the clock take some 40 ns.
constexpr std::uint32_t events_between_timed = 61;

}  // namespace

Worker::Worker(Rank& rank, WorkerId id)
    : rank_(rank),
      plan_(rank.plan()),
      self_{static_cast<std::uint16_t>(index(rank.id())), static_cast<std::uint16_t>(index(id))},
      stride_(rank.plan().state_keeping.entry_stride),
      keeper_(rank.plan().state_keeping),
      trace_(rank.trace_spans_max()),
      worker_outboxes_(rank.plan().workers),
      may_interrupt_(rank.plan().rollback != Rollback::reverse &&
                     rank.plan().ranks * rank.plan().workers > 1),
      draws_interruptions_(may_interrupt_ && rank.plan().config.check_interrupt > 0),
      draws_rollbacks_(rank.plan().config.check_rollback > 0),
      until_timed_(rank.rebinding().on() ? events_between_timed : 0) {}

// Of a run that has failed LPs have no destructor called: their states are what a failure left.
Worker::~Worker() = default;

void Worker::add_digest(Digest& sum) const noexcept {
    for (const Group* group : groups_)
        for (std::uint32_t i = 0; i < group->count; ++i)
            sum += group->lps[i].digest.term(LpId{group->lps[i].id});
}

void Worker::add_rollback_spots(std::vector<RollbackSpot>& spots) const {
    for (const Group* group : groups_)
        for (std::uint32_t i = 0; i < group->count; ++i)
            add_spot(spots,
                     {group->lps[i].rolled_back, group->lps[i].id, self_.rank, self_.worker});
}

// --- Set-up ----------------------------------------------------------------------------------------

void Worker::adopt_thread() {
    warm_up();
    stack_ = own_stack();
    guard_.adopt_thread();
    undo_guard_.adopt_thread();
    WatchedThread::adopt_thread();
}

void Worker::build_groups() {
    for (std::uint32_t g = 0; g < plan_.partition.groups(); ++g)
        if (plan_.partition.first_owner(g) == self_) build_group(g);
    if (!plan_.config.save.on()) return;
    const AddressMap map({stack_});
    for (Group* group : groups_) note_constructed(*group, map);
}

Group& Worker::build_group(std::uint32_t g) {
    Group& group = rank_.make_group(g);
    group.memory.set_home(rank_.node_of_worker(self_.worker));
    groups_.push_back(&group);
    running_ = {&group, nullptr, nullptr, nullptr, 0, false, "its constructor"};
    build_lps(group, plan_, rank_.memory_budget(), guard_);
    running_ = {};
    return group;
}

void Worker::start(GvtRounds::Clock::time_point now) {
    // Mail goes out and in on the way, also to and from other ranks, so that it never piles up.
    constexpr std::uint64_t lps_between_mail = 64;
    now_ = now;
    trace_turn_.begin(now_);
    std::uint64_t started = 0;
    for (Group* group : groups_) {
        for (std::uint32_t i = 0; i < group->count; ++i) {
            run_on_start(*group, group->lps[i]);
            rank_.memory_budget().note_started();
            if (++started % lps_between_mail != 0) continue;
            flush_outboxes(false);
            if (!plan_.config.net_thread) rank_.net_step(now_, trace_turn_);
            drain_mail();
        }
    }
    flush_outboxes(true);
}

void Worker::run_on_start(Group& group, LpRecord& lp) {
    // What on_start does is final at once; the entry only gathers it.
    HistoryEntry entry{};
    running_ = {&group, &lp, nullptr, &entry, 0, false, "on_start()"};
    Context context = make_context(0, LpId{lp.id}, plan_.rules.lps,
                                   Random(plan_.config.seed, lp.id, lp.random_counter));
    if (sigsetjmp(guard_.env(), 0) != 0) {
        // First: the compiler makes room for an exception before it looks at what is to be in it.
        const std::string what = leave_crashed_handler(guard_);
        throw ModelError(fmt::format("LP {} at time 0 in on_start(): {}", running_.lp->id, what));
    }
    const bool well = call_handler_of(lp, guard_, failure_, [&] {
        lp.process->on_start(context);
        if (plan_.setup.process.has_end_condition) lp.ended = lp.process->can_end();
    });
    if (!well) throw ModelError(fmt::format("LP {} at time 0 in on_start(): {}", lp.id, failure_));
    lp.random_counter = context.random().counter();
    release_sends(entry);
    take_rows(entry, EventKey{0, 0, lp.id, 0});
    free_side_effects(group, entry);
    if (draws_rollbacks_) lp.heap->set_zero_fill();
    keeper_.begin(lp);
    if (!lp.ended) ++lps_not_ended_;
    running_ = {};
}

// --- The turn --------------------------------------------------------------------------------------

bool Worker::turn(GvtRounds::Clock::time_point now) {
    if (phase_ == Phase::finished || phase_ == Phase::paused) return false;
    now_ = now;
    trace_turn_.begin(now_);
    if (!plan_.config.net_thread) rank_.net_step(now_, trace_turn_);
    on_gvt();
    // A handler followed a bad pointer, divided by zero, …: the stack between is gone, what was
    // running stands in running_. The turn begins again.
    if (sigsetjmp(guard_.env(), 0) != 0) leave_crashed();
    if (awaited_ > 0) take_over();
    bool worked = drain_mail();
    trace_turn_.mark(TraceKind::mail, worked ? 1 : 0);
    const std::uint64_t executed = counters_[Counter::executed_events];
    if (phase_ == Phase::running) worked |= execute_batch();
    trace_turn_.mark(TraceKind::execute, counters_[Counter::executed_events] - executed);
    flush_outboxes(false);
    cut();
    const bool committed = commit_some();
    trace_turn_.mark(TraceKind::commit, committed ? 1 : 0);
    worked |= committed;
    const MemoryBudget::Level level = rank_.memory_budget().level(now_);
    if (level != MemoryBudget::Level::ample) [[unlikely]]
        apply_memory_pressure(level);
    if (now_ >= trim_due_) trim_mail();
    if (!leaving_.empty() && commit_done_) hand_over();
    if (nothing_in_flight_ && commit_done_)
        phase_ = phase_ == Phase::pausing ? Phase::paused : Phase::finished;
    if (!worked) {
        // Only a new GVT (or mail) can change anything here: ask for one now.
        ++counters_[Counter::idle_turns];
        rank_.gvt().want_round();
        trace_turn_.mark(TraceKind::idle, 1);
    }
    if constexpr (paranoid) check_turn();
    return worked;
}

bool Worker::drain_mail() {
    BottomHalf* mail = rank_.ready_list(self_.worker).take_all();
    if (mail == nullptr) return false;
    while (mail != nullptr) {
        BottomHalf* next = mail->next_ready;  // before drain(): a writer may list it again after
        if (!(rank_.owner(mail->group()) == self_)) [[unlikely]] {
            take_over();
            if (!(rank_.owner(mail->group()) == self_)) {
                rank_.ready_list_of_group(mail->group()).push(*mail);
                mail = next;
                continue;
            }
        }
        Group& group = *rank_.group(mail->group());
        const std::span<const std::byte> events = mail->drain();
        for_each_wire_event(events.data(), events.size(),
                            [&](const WireEvent& wire) { receive(wire, group); });
        mail = next;
    }
    return true;
}

void Worker::receive(const WireEvent& wire, Group& group) {
    NW_CHECK(wire.time >= gvt_);
    NW_PARANOID(plan_.partition.place(wire.target).group == group.mail.group());
    epochs_.receive(wire.epoch);
    // The end stands: this is beyond it. Taking it back would send further anti-messages, and the
    // messages in flight would never end.
    if (phase_ == Phase::draining) return;
    if (wire.kind == WireKind::anti_message) {
        receive_anti_message(wire, group, group.lps[plan_.partition.place(wire.target).index]);
        return;
    }
    EventRecord& event = new_event(group, wire, wire.payload());
    event.from_other_worker = true;
    pending_.push(event.entry());
}

// A straggler is noticed here, when it comes up as the smallest, and not when it arrives: several of
// them cost one rollback.
bool Worker::execute_batch() {
    const std::uint32_t allowed = std::min(batch_events, events_ahead_);
    std::uint32_t left = allowed;
    for (; left > 0; --left) {
        const PendingEntry* top = pending_.top();
        if (top == nullptr) break;
        const bool is_beyond = top->time >= horizon_;
        if (is_beyond || (top->generation > generations_ &&
                          (top->time != gvt_ || top->generation > generation_limit_)))
            [[unlikely]] {
            if (!is_beyond || horizon_ < plan_.until) ++counters_[Counter::window_stops];
            break;
        }
        const PendingEntry entry = *top;
        pending_.pop();
        prefetch_upcoming();
        execute_next(entry);
    }
    if (events_ahead_ != unlimited) [[unlikely]]
        spend_quota(allowed - left);
    return left < allowed;
}

// What the next events will need, fetched in two steps: first the LP's record and the event, then,
// with the record at hand, the model's object and the history entry.
inline void Worker::prefetch_upcoming() {
    if (const PendingEntry* later = pending_.upcoming(prefetch_far)) {
        const LpRecord& lp = lp_of(*later);
        prefetch(&lp);
        prefetch(&lp.history);
        prefetch(later->event);
    }
    if (const PendingEntry* soon = pending_.upcoming(prefetch_near)) {
        LpRecord& lp = lp_of(*soon);
        prefetch(lp.process);
        lp.history.prefetch_next(stride_);
    }
}

inline LpRecord& Worker::lp_of(const PendingEntry& entry) const noexcept {
    const Partition::Place place = plan_.partition.place(entry.target);
    return rank_.group(place.group)->lps[place.index];
}

void Worker::execute_next(const PendingEntry& entry) {
    EventRecord& event = *entry.event;
    const Partition::Place place = plan_.partition.place(entry.target);
    Group& group = *rank_.group(place.group);
    if (event.status == EventStatus::cancelled) {
        group.heap.free(&event, event.bytes());
        return;
    }
    LpRecord& lp = group.lps[place.index];
    if (event.from_other_worker && lp.unmatched_anti_messages > 0 && meets_anti(group, lp, event))
        return;
    NW_CHECK(event.time >= gvt_);
    if (before(entry, lp.last_key)) roll_back_before(group, lp, entry.key());
    if (draws_rollbacks_ && is_chosen_for_check(event) && !lp.failed) [[unlikely]] {
        check_rollback(group, lp, event);
    } else if (--until_timed_ == 0) {
        until_timed_ = events_between_timed;
        const auto start = GvtRounds::Clock::now();
        execute(group, lp, event);
        group.load.sample(
            std::chrono::duration<double, std::nano>(GvtRounds::Clock::now() - start).count());
    } else {
        execute(group, lp, event);
    }
    if constexpr (paranoid) check_change(lp);
}

void Worker::execute(Group& group, LpRecord& lp, EventRecord& event) {
    HistoryEntry& entry = lp.history.append(stride_, group.heap);
    entry.event = &event;
    entry.sent = nullptr;
    entry.side_effects = nullptr;
    entry.random_used = 0;
    entry.sent_count = 0;
    note_uncommitted(lp);
    keeper_.save(lp, entry, group.heap);
    event.status = EventStatus::processed;
    lp.last_key = event.key();
    lead_ = event.time;
    ++counters_[Counter::executed_events];
    if (lp.failed) [[unlikely]] {
        // An earlier handler failed. Either that is undone, and this with it, or it ends the run.
        event.failed = true;
        return;
    }
    running_ = {&group, &lp, &event, &entry, event.generation, false};
    if (draws_interruptions_ && is_chosen_for_interruption(event)) [[unlikely]] {
        put_aside_running();
        return;
    }
    if (keeper_.wants_event_cost(lp)) [[unlikely]] {
        const auto start = GvtRounds::Clock::now();
        call_handler(lp, event, entry);
        keeper_.event_cost(
            lp, std::chrono::duration<float, std::nano>(GvtRounds::Clock::now() - start).count());
    } else {
        call_handler(lp, event, entry);
    }
}

void Worker::call_handler(LpRecord& lp, EventRecord& event, HistoryEntry& entry) {
    Context context = make_context(event.time, LpId{lp.id}, plan_.rules.lps,
                                   Random(plan_.config.seed, lp.id, lp.random_counter));
    const Event view = event.view();
    const bool well = call_handler_of(lp, guard_, failure_, [&] {
        lp.process->on_event(context, view);
        if (plan_.setup.process.has_end_condition) event.lets_end = lp.process->can_end();
        entry.random_used = detail::blocks_drawn(lp.random_counter, context.random().counter());
    });
    if (!well) [[unlikely]] {
        fail_running(failure_);
        return;
    }
    lp.random_counter = context.random().counter();
    if (plan_.rollback == Rollback::reverse)
        std::memcpy(entry.undo(), &context.control(), sizeof(std::uint64_t));
    release_sends(entry);
}

void Worker::leave_crashed() {
    const std::string what = leave_crashed_handler(guard_);
    drop_tried_image(*running_.group);
    if (guard_.was_interrupted())
        put_aside_running();
    else
        fail_running(what);
}

// What the running handler sent never leaves.
void Worker::drop_sends() {
    auto& [group, lp, event, entry, generation, silent, hook] = running_;
    staged_.clear();
    dropped_beyond_end_ -= dropped_sends(*entry);
    while (EventRecord* sent = entry->sent) {
        entry->sent = sent->next_sent;
        const Partition::Place place = plan_.partition.place(sent->target);
        rank_.group(place.group)->heap.free(sent, sent->bytes());
    }
    free_side_effects(*group, *entry);
    lp->sequence -= entry->sent_count;
    entry->sent_count = 0;
    entry->random_used = 0;
}

// The event stays in the history as failed: undone with its LP's next rollback past it, reported if
// it is committed.
void Worker::fail_running(std::string_view what) {
    drop_sends();
    running_.event->failed = true;
    running_.lp->failed = true;
    ++counters_[Counter::failed_speculations];
    SideEffect& message =
        new_side_effect(*running_.group, *running_.entry, SideEffect::Kind::failure, what.size());
    std::memcpy(message.content(), what.data(), what.size());
    if constexpr (paranoid) check_change(*running_.lp);
}

std::string Worker::describe_event(const EventRecord& event) {
    return fmt::format("LP {} at time {}, event of type {} from LP {}: ", event.target, event.time,
                       event.type, event.sender);
}

// --- The cut ---------------------------------------------------------------------------------------

void Worker::cut() {
    const bool open = rank_.gvt().opened() != epochs_.epoch();
    if (!open || epochs_.epoch() != epochs_.seen() || nothing_in_flight_) return;
    if (!leaving_.empty() || awaited_ != 0) return;
    flush_outboxes(true);
    Contribution& slot = rank_.gvt().slot(self_.worker);
    slot = {};
    const PendingEntry* top = pending_.top();
    epochs_.cut(top != nullptr ? EventBound(top->time, top->generation) : EventBound(), slot);
    slot.put_aside = first_put_aside();
    slot.lead = lead_;
    slot.executed = counters_[Counter::executed_events];
    slot.rolled_back = counters_[Counter::rolled_back_events] - rolled_back_by_pauses_;
    slot.committed = counters_[Counter::committed_events];
    if (self_.worker == 0) slot.resident_bytes = rank_.memory_budget().used_bytes();
    slot.not_ended = lps_not_ended_;
    slot.end_key = end_key_;
    slot.dropped_beyond_end = dropped_beyond_end_;
    slot.events_ahead = events_ahead_max_;
    slot.stop = static_cast<std::uint64_t>(rank_.stop_signal());
    slot.save = now_ >= save_due_ ? 1 : 0;
    rank_.gvt().arrive(self_.worker);
    trace_turn_.mark(TraceKind::cut, 1);
}

}  // namespace nw
