// SPDX-License-Identifier: Apache-2.0
#include "engine/inorder/in_order_executor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api/make_context.hpp"
#include "engine/checked/checked_run.hpp"
#include "engine/checkpoint/paused_run.hpp"
#include "engine/checkpoint/saved_group.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "engine/event_flow.hpp"
#include "engine/handler_call.hpp"
#include "engine/lp_lifetime.hpp"
#include "memory/handler/warm_up.hpp"
#include "memory/image/outside_pointers.hpp"
#include "net/exchange.hpp"
#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

constexpr std::size_t rows_worth_handing_over = 1024;

// While the used memory is above --memory-cap, free memory is released each time the used memory
// has grown by 1/releases_per_cap of the cap.
constexpr std::uint64_t releases_per_cap = 256;

}  // namespace

InOrderWorld::InOrderWorld(const RunPlan& p, MemorySource& m, OutputWriter& o, Exchange* e)
    : plan(p),
      memory(m),
      output(o),
      exchange(e),
      rank(e != nullptr ? index(e->rank()) : 0),
      groups(p.partition.groups()),
      ready_lists(p.workers),
      budget(p, m, p.ranks) {}

void InOrderWorld::deliver(const WireEvent& wire) {
    const std::uint32_t g = plan.partition.position(wire.target).group;
    groups[g]->mail.push(reinterpret_cast<const std::byte*>(&wire), wire.bytes(),
                         ready_lists[plan.partition.first_owner(g).worker]);
}

InOrderExecutor::InOrderExecutor(InOrderWorld& world, std::uint32_t self)
    : EventSink(world.plan.rules, world.plan.config.seed),
      world_(world),
      self_{static_cast<std::uint16_t>(world.rank), static_cast<std::uint16_t>(self)},
      intervals_(world.plan.setup.measures, world.plan.measure_times),
      ahead_(world.plan.config.seed),
      short_(world.plan.until, world.plan.rules.lookahead, world.plan.rules.payload_bytes_max),
      context_(make_context(0, 0, 0, short_.buffer())),
      run_batch_(choose_loop()),
      is_alone_(world.plan.is_alone()) {
    figures_.events.resize(world.plan.kinds.slots().size());
}

// After a failure no destructor of an LP is called, because the failure may have left the states
// broken.
InOrderExecutor::~InOrderExecutor() = default;

void InOrderExecutor::adopt_thread() {
    warm_up();
    stack_ = own_stack();
    guard_.adopt_thread();
    WatchedThread::adopt_thread();
}

void InOrderExecutor::join_thread() noexcept {
    guard_.join_thread();
    WatchedThread::join_thread();
}

// Events of this engine are never rolled back: every call is irrevocable.
RunningHandler InOrderExecutor::running_handler() const noexcept { return call_.handler(); }

// --- Before and after ----------------------------------------------------------------------------

void InOrderExecutor::set_up() {
    const RunPlan& plan = world_.plan;
    const SavedRun* const from = plan.config.restart_from.get();
    std::optional<SavedGroups> saved;
    if (from != nullptr) saved.emplace(*from);
    for (std::uint32_t g = 0; g < plan.partition.groups(); ++g) {
        if (!owns(g)) continue;
        world_.groups[g] = std::make_unique<Group>(world_.memory, g);
        groups_.push_back(world_.groups[g].get());
        build_lps(*groups_.back(), plan, &world_.budget, call_, guard_);
        if (saved) read_group_of(*saved, *groups_.back());
    }
    // Only one executor restores this time, because the maximum over all executors is used.
    if (from != nullptr && self_ == Partition::Owner{0, 0})
        last_time_ = from->progress.last_committed_time;
    if (from != nullptr || !plan.notes_constructed()) return;
    const AddressMap map(world_.memory.os(), {stack_});
    for (Group* group : groups_) note_constructed(*group, map);
}

void InOrderExecutor::read_group_of(SavedGroups& saved, Group& group) {
    for (EventRecord* event : saved.read(group)) resume(event->entry());
    lps_not_ended_ += not_ended(group);
    const MeasureTimes& times = world_.plan.measure_times;
    if (times.on())
        group.intervals_seen.assign(group.count,
                                    times.ended_by(world_.plan.config.restart_from->progress.gvt));
    for (std::uint32_t i = 0; i < group.count; ++i) world_.budget.note_started();
}

// Adds to the pending set an event that was pending in a saved run or in another engine.
void InOrderExecutor::resume(const PendingEntry& entry) {
    dropped_beyond_end_ |= entry.time >= world_.plan.until;
    pending_.push(entry);
}

Group& InOrderExecutor::group_of(std::uint32_t lp) const noexcept {
    return *world_.groups[world_.plan.partition.position(lp).group];
}

void InOrderExecutor::start(const std::function<void()>& move_mail) {
    if (world_.plan.config.restart_from) return;
    start_lps(
        groups_, world_.budget, call_, [&](Group& group, LpRecord& lp) { run_on_start(group, lp); },
        [&] {
            mail_.publish();
            move_mail();
            fetch_mail();
        });
}

[[gnu::always_inline]] inline void InOrderExecutor::release_sends(LpRecord& lp) {
    short_.release(
        lp.serial, pending_,
        [this](std::uint32_t target) {
            return is_alone_ || owns(world_.plan.partition.position(target).group);
        },
        [this](const EventHeader& header, const std::byte* payload) {
            mail_.send(header, payload);
        });
    if (sent_ == nullptr) return;
    release_sent(sent_, pending_);
    sent_ = nullptr;
}

void InOrderExecutor::run_on_start(Group& group, LpRecord& lp) {
    call_ = {.lp = &lp, .hook_key = {.sender = lp.id}, .hook = "on_start()"};
    short_.send_for(lp.sequence);
    Context context = make_context(0, lp.id, lp.random_counter, short_.buffer());
    CheckedRun* const checked = world_.plan.config.checked;
    if (checked != nullptr) checked->before_call(call_, world_.plan.kinds);
    call_on_start(call_, world_.plan, context, guard_);
    if (checked != nullptr) checked->after_call(call_, group, world_.plan.kinds);
    release_sends(lp);
    if (!lp.ended) ++lps_not_ended_;
}

void InOrderExecutor::run_on_end(LpRecord& lp, VirtualTime end_time, MeasureSums& measures) {
    Group& group = *world_.groups[world_.plan.partition.position(lp.id).group];
    call_ = {.group = &group,
             .lp = &lp,
             .hook_key = {.time = end_time, .sender = lp.id},
             .hook = "on_end()"};
    Context context = make_context(end_time, lp.id, lp.random_counter);
    call_on_end(call_, world_.plan, context, guard_, measures);
    for (OutputRow& row : rows_) {
        // Rows of on_end() are sorted after all rows of events, in the order of LPs.
        row.key = {time_infinity, 0, lp.id, 0};
        world_.output.write(row);
    }
    rows_.clear();
}

void InOrderExecutor::destroy_lps(const std::atomic<int>& stop_signal) {
    nw::destroy_lps(groups_, world_.plan, call_.key().time, stop_signal, call_, guard_);
}

// --- Events --------------------------------------------------------------------------------------

// The executor keeps no data longer than necessary. So it can only release free memory.
void InOrderExecutor::apply_memory_pressure(MemoryBudget::Clock::time_point now) {
    if constexpr (paranoid) check_if_due();
    MemoryBudget& budget = world_.budget;
    if (budget.level(now) == MemoryBudget::Level::ample) return;
    if (!budget.wants_release()) return;
    if (budget.used_bytes() >= released_at_ + budget.cap_bytes() / releases_per_cap) {
        for (Group* group : groups_) group->heap.release_free_pages();
        if (self_.worker == 0) world_.memory.os().release_libc_memory();
        budget.check(last_time_);
        released_at_ = budget.used_bytes();
    }
}

InOrderExecutor::RunBatch InOrderExecutor::choose_loop() const noexcept {
    static constexpr auto loops = []<std::size_t... number>(std::index_sequence<number...>) {
        return std::array{&InOrderExecutor::run_batch<Extras::of(number)>...};
    }
    (std::make_index_sequence<Extras::combinations>());
    const LpKinds& kinds = world_.plan.kinds;
    const Extras extras{.counts = kinds.counts_events(),
                        .commits = kinds.has_commit(),
                        .ends = kinds.has_end_condition(),
                        .looks = world_.plan.config.checked != nullptr || intervals_.times().on()};
    return loops[extras.number()];
}

// Separate from run_batch(), so that all event loops pass the same type to EventPrefetcher.
inline auto InOrderExecutor::lps_ahead() const noexcept {
    const auto place_of = [this](std::uint32_t id) __attribute__((always_inline))
                              ->EventPrefetcher::Place {
        const Partition::Position position = world_.plan.partition.position(id);
        Group& group = *world_.groups[position.group];
        return {&group, &group.lps[position.index]};
    };
    return LpsAhead{world_.plan.kinds, place_of, [](const LpRecord&, const PendingEntry&) {}};
}

template <InOrderExecutor::Extras extras>
std::uint64_t InOrderExecutor::run_batch(VirtualTime horizon, std::uint64_t events_max) {
    call_.hook = "";
    if (sigsetjmp(guard_.env(), 0) != 0) handler_failed(leave_crashed_handler(guard_));
    return execute_batch<extras>(horizon, events_max);
}

// Separate from run_batch(): a function that calls sigsetjmp() keeps its variables in memory and
// not in registers.
template <InOrderExecutor::Extras extras>
[[gnu::noinline]] std::uint64_t InOrderExecutor::execute_batch(VirtualTime horizon,
                                                               std::uint64_t events_max) {
    const auto lps = lps_ahead();
    if (is_requested()) [[unlikely]]
        answer(upcoming_event(pending_, counters_));
    begin_batch(extras.ends);
    short_.record().begin();
    std::uint64_t executed = 0;
    while (executed < events_max && !leaves_batch([this] { return all_ended(); })) {
        const PendingEntry* top = pending_.top();
        if (top == nullptr || top->time >= horizon) break;
        const EventPrefetcher::Guess guess = ahead_.find(pending_, top, lps);
        const EventPrefetcher::Place place = ahead_.place(guess);
        EventRecord& event = short_.rewritten_record_of(*top);
        pending_.pop(top);
        if (extras.counts && --until_timed_ == 0) [[unlikely]]
            execute_timed<extras>(place, event, guess);
        else
            execute<extras>(place, event, guess);
        ++executed;
    }
    counters_[Counter::executed_events] += executed;
    counters_[Counter::committed_events] += executed;
    meter_mark<MeterMark::commits>(counters_[Counter::committed_events], 0);
    return executed;
}

template <InOrderExecutor::Extras extras>
[[gnu::noinline]] void InOrderExecutor::execute_timed(const EventPrefetcher::Place& place,
                                                      EventRecord& event,
                                                      EventPrefetcher::Guess guess) {
    until_timed_ = events_between_timed;
    EventFigures& figures = figures_.events[world_.plan.kinds.slot(place.lp->kind, event.type)];
    const auto start = std::chrono::steady_clock::now();
    execute<extras>(place, event, guess);
    figures.count_time(std::chrono::steady_clock::now() - start);
}

template <InOrderExecutor::Extras extras>
[[gnu::always_inline]] inline void InOrderExecutor::execute(const EventPrefetcher::Place& place,
                                                            EventRecord& event,
                                                            EventPrefetcher::Guess guess) {
    Group& group = *place.group;
    LpRecord& lp = *place.lp;
    const LpKinds& kinds = world_.plan.kinds;
    [[maybe_unused]] CheckedRun* const checked = world_.plan.config.checked;
    call_.lp = &lp;
    call_.event = &event;
    short_.send_for(lp.sequence);
    renew(context_, event.time, lp.id, lp.random_counter);
    ahead_.give_block(guess, lp.random_counter, context_.random());
    if constexpr (extras.looks)
        if (checked != nullptr) checked->before_call(call_, kinds);
    const bool ends_interval = extras.looks && intervals_.times().on() &&
                               intervals_.is_due(group.intervals_seen_of(lp), event.time);
    std::uint32_t random_used = 0;
    if (!call_handler_of(lp, guard_, failure_, [&] {
            if (ends_interval) sample_intervals(group, lp, event.time);
            random_used = run_on_event(lp, event, context_, extras.ends);
        })) [[unlikely]]
        handler_failed(failure_);
    if (ends_interval) intervals_.add(intervals_.last_sample());
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    lp.random_counter += random_used;
    release_sends(lp);
    if constexpr (extras.looks)
        if (checked != nullptr) {
            checked->after_call(call_, group, kinds);
            checked->note_committed(event);
        }
    last_time_ = event.time;
    if constexpr (extras.counts) ++figures_.events[kinds.slot(lp.kind, event.type)].committed;
    if constexpr (extras.commits) {
        call_.hook = "on_commit()";
        if (!call_guarded(guard_, nullptr, failure_, [&] { lp.process->on_commit(event.view()); }))
            handler_failed(failure_);
        call_.hook = "";
    }
    if (extras.ends && event.lets_end) {
        lp.ended = true;
        --lps_not_ended_;
    }
    if (!short_.is_record(event)) {
        call_.hook_key = event.key();
        call_.event = nullptr;
        free_event(group, event);
    }
}

void InOrderExecutor::sample_intervals(Group& group, const LpRecord& lp, VirtualTime now) {
    std::uint32_t& seen = group.intervals_seen_of(lp);
    const std::uint32_t ended = intervals_.times().ended_by(now);
    intervals_.sample(*lp.process, seen, ended);
    seen = ended;
}

void InOrderExecutor::handler_failed(std::string_view what) {
    throw ModelError(describe_call(call_, world_.plan.kinds).append(what));
}

// --- Sends ---------------------------------------------------------------------------------------

void InOrderExecutor::send(const detail::ScheduledEvent& event) {
    schedule_event(
        world_.plan, call_, event, sent_,
        [&](std::uint32_t g) { return owns(g) ? world_.groups[g].get() : nullptr; },
        [&](const EventHeader& header) {
            const PlatformScope platform;
            mail_.send(header, event.payload.data());
        },
        [&] { dropped_beyond_end_ = true; });
}

void InOrderExecutor::fetch_mail() {
    drain_mail(
        world_.ready_lists[self_.worker],
        [&](const BottomHalf& mail) { return world_.groups[mail.group()].get(); },
        [&](const WireEvent& wire, Group& group) {
            NW_CHECK(wire.time >= last_time_);
            if (!short_.push(wire, wire.payload(), pending_))
                pending_.push(new_event(group, wire, wire.payload()).entry());
        });
}

// --- Output --------------------------------------------------------------------------------------

void InOrderExecutor::output(Context&, std::size_t table, std::span<const OutputValue> row) {
    const std::size_t bytes = encoded_row_bytes(world_.plan.setup.outputs, table, row);
    const PlatformScope platform;
    ++counters_[Counter::output_rows];
    if (!world_.output.wanted()) return;
    OutputRow& kept = rows_.emplace_back();
    kept.key = call_.key();
    kept.table = static_cast<std::uint32_t>(table);
    kept.values.resize(bytes);
    encode_row(row, kept.values.data());
}

void InOrderExecutor::hand_over_output(VirtualTime bound) {
    if (!world_.output.wanted()) return;
    if (rows_.size() >= rows_worth_handing_over || bound == time_infinity) {
        hand_over_all_output(bound);
    } else {
        // Rows are kept in order: the first row is the earliest that is not handed over yet.
        world_.output.promise(self_.worker, rows_.empty() ? bound : rows_.front().key.time);
    }
}

void InOrderExecutor::hand_over_all_output(VirtualTime bound) {
    world_.output.hand_over(self_.worker, rows_, bound);
}

// --- Saving, and changing the engine -------------------------------------------------------------

// Between two events, an executor has no history, so only its present state is saved.

// The LPs keep nothing that depends on the engine, so they need no change.
void InOrderExecutor::leave_to(PausedRun& paused, VirtualTime gvt) {
    nw::sample_intervals(groups_, world_.plan, gvt, call_, guard_, intervals_);
    make_all_records(short_, pending_, [&](auto lp) -> Group& { return group_of(lp); });
    pending_.for_each([&](const PendingEntry& entry) {
        paused.pending[world_.plan.partition.position(entry.target).group].push_back(entry);
    });
    for (const Group* group : groups_) {
        const std::uint32_t g = group->mail.group();
        paused.groups[g] = std::move(world_.groups[g]);
    }
    groups_.clear();
    PausedWorker& worker = paused.workers[self_.worker];
    worker.tally.counters = counters_;
    worker.tally.figures = figures_;
    worker.intervals = intervals_;
    worker.last_committed_time = last_time_;
    worker.dropped_beyond_end = dropped_beyond_end_;
}

void InOrderExecutor::continue_from(PausedRun& paused) {
    for (std::uint32_t g = 0; g < world_.plan.partition.groups(); ++g) {
        if (!owns(g)) continue;
        NW_CHECK(paused.groups[g] != nullptr);
        world_.groups[g] = std::move(paused.groups[g]);
        groups_.push_back(world_.groups[g].get());
        for (const PendingEntry& entry : std::exchange(paused.pending[g], {})) resume(entry);
        lps_not_ended_ += not_ended(*groups_.back());
    }
    const PausedWorker& worker = paused.workers[self_.worker];
    counters_ = worker.tally.counters;
    figures_ = worker.tally.figures;
    if (world_.plan.measure_times.on()) intervals_ = worker.intervals;
    counted_events_ = counters_[Counter::executed_events];
    last_time_ = worker.last_committed_time;
    dropped_beyond_end_ |= worker.dropped_beyond_end;
}

// The key of the last event at which an LP allowed the end of the run is not saved. A restart does
// not need this key: at least one LP has not allowed the end yet, and can allow it only at a later
// event.
SavedPart InOrderExecutor::save(SectionWriter& file, std::uint32_t file_number,
                                const AddressMap& map, VirtualTime gvt) {
    nw::sample_intervals(groups_, world_.plan, gvt, call_, guard_, intervals_);
    const PendingChains pending(pending_, world_.plan.partition);
    SavedPart part =
        write_groups(groups_, pending, map, world_.plan.config.save.modules, file, file_number);
    part.progress.gvt = gvt;
    part.progress.last_committed_time = last_time_;
    part.progress.totals = counters_;
    part.intervals = intervals_;
    return part;
}

// --- Invariants ----------------------------------------------------------------------------------

void InOrderExecutor::check_if_due() {
    const std::uint64_t executed = counters_[Counter::executed_events];
    walks_.count_changes(executed - counted_events_);
    counted_events_ = executed;
    if (walks_.is_due()) walks_.walked(validate());
}

std::uint64_t InOrderExecutor::validate() const {
    const PlatformScope platform;
    NW_CHECK(sent_ == nullptr);
    const Partition& partition = world_.plan.partition;
    std::uint64_t things = pending_.size();
    std::uint64_t lps_not_ended = 0;
    for (const Group* group : groups_) {
        const std::uint32_t g = group->mail.group();
        NW_CHECK(owns(g));
        for (std::uint32_t i = 0; i < group->count; ++i) {
            const LpRecord& lp = group->lps[i];
            NW_CHECK(partition.position(lp.id).group == g);
            NW_CHECK(partition.position(lp.id).index == i);
            NW_CHECK(lp.history.empty());  // this engine undoes nothing
            lp.heap.validate();
            things += 8 + lp.heap.used_bytes() / 1024;
        }
        lps_not_ended += not_ended(*group);
        group->memory.validate();
        world_.groups[g]->mail.validate();
        things += 64 + group->heap.free_bytes() / 256;
    }
    NW_CHECK(lps_not_ended == lps_not_ended_);
    NW_CHECK(pending_.validate());
    pending_.for_each([&](const PendingEntry& entry) {
        NW_CHECK(!entry.has_record() || entry.key() == entry.record()->key());
        NW_CHECK(!entry.has_record() || entry.target == entry.record()->target);
        NW_CHECK(entry.has_record() || entry.is_bare() == (header_of(entry).payload_bytes == 0));
        NW_CHECK(entry.time >= last_time_);
        NW_CHECK(entry.time < world_.plan.until || world_.plan.may_have_events_beyond_end());
        NW_CHECK(owns(partition.position(entry.target).group));
    });
    return things;
}

}  // namespace nw
