#include "inorder/in_order_executor.hpp"

#include <cstring>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/prefetch.hpp"
#include "engine/handler_call.hpp"
#include "engine/lp_building.hpp"
#include "lp/make_context.hpp"
#include "numa/handler/warm_up.hpp"

namespace nw {
namespace {

// How far ahead in the sorted run things are fetched into the cache.
constexpr std::size_t prefetch_far = 12;
constexpr std::size_t prefetch_near = 4;
constexpr std::size_t rows_worth_handing_over = 1024;

constexpr std::uint64_t lps_between_mail = 64;

// Beyond --memory-cap, free memory is given back whenever the run has grown by this share of it.
constexpr std::uint64_t releases_per_cap = 256;

}  // namespace

InOrderExecutor::InOrderExecutor(InOrderWorld& world, std::uint32_t self)
    : world_(world), self_(self) {}

// Of a run that has failed LPs have no destructor called: their states are what a failure left.
InOrderExecutor::~InOrderExecutor() = default;

void InOrderExecutor::adopt_thread() {
    warm_up();
    guard_.adopt_thread();
    WatchedThread::adopt_thread();
}

void InOrderExecutor::destroy_lps() {
    hook_ = "its destructor";
    for (Group* group : groups_) {
        group_ = group;
        nw::destroy_lps(*group, guard_);
    }
    group_ = nullptr;
}

// Whatever runs here is for good.
RunningHandler InOrderExecutor::running_handler() const noexcept {
    RunningHandler handler{.hook = hook_, .time = key_.time, .certain = true};
    if (group_ != nullptr) {
        handler.lp = group_->lps[group_->count].id;
    } else if (lp_ != nullptr) {
        handler.lp = lp_->id;
    }
    if (event_ == nullptr) return handler;
    handler.sender = event_->sender;
    handler.type = event_->type;
    return handler;
}

void InOrderExecutor::set_up() {
    hook_ = "its constructor";
    const Partition& partition = world_.plan.partition;
    for (std::uint32_t g = 0; g < partition.groups(); ++g) {
        if (partition.first_owner(g).worker != self_) continue;
        world_.groups[g] = std::make_unique<Group>(world_.memory, g);
        groups_.push_back(world_.groups[g].get());
        group_ = groups_.back();
        build_lps(*groups_.back(), world_.plan, world_.budget, guard_);
    }
    group_ = nullptr;
}

void InOrderExecutor::start() {
    std::uint64_t started = 0;
    for (Group* group : groups_) {
        for (std::uint32_t i = 0; i < group->count; ++i) {
            LpRecord& lp = group->lps[i];
            key_ = {0, 0, lp.id, 0};
            run_hook(lp, 0, "on_start()");
            if (!lp.ended) ++lps_not_ended_;
            world_.budget.note_started();
            // Mail goes out and in on the way, so that it never piles up.
            if (++started % lps_between_mail != 0) continue;
            send_mail();
            fetch_mail();
        }
    }
    send_mail();
}

// Nothing here is kept for longer than it must be: all that helps is to give back what is free.
void InOrderExecutor::apply_memory_pressure() {
    if constexpr (paranoid) check_if_due();
    MemoryBudget& budget = world_.budget;
    if (budget.level(MemoryBudget::Clock::now()) == MemoryBudget::Level::ample) return;
    if (!budget.wants_release()) return;
    if (budget.used_bytes() >= released_at_ + budget.cap_bytes() / releases_per_cap) {
        for (Group* group : groups_) group->heap.release_free_pages();
        if (self_ == 0) world_.memory.os().release_libc_memory();
        budget.check(last_time_);
        released_at_ = budget.used_bytes();
    }
}

void InOrderExecutor::run_on_end(LpRecord& lp, VirtualTime end_time) {
    may_schedule_ = false;
    key_ = {end_time, 0, lp.id, 0};
    run_hook(lp, end_time, "on_end()");
    for (const OutputRow& row : rows_) world_.output.write(row);
    rows_.clear();
}

void InOrderExecutor::run_hook(LpRecord& lp, VirtualTime now, const char* hook) {
    lp_ = &lp;
    event_ = nullptr;
    hook_ = hook;
    Context context = make_context(now, LpId{lp.id}, world_.plan.rules.lps,
                                   Random(world_.plan.config.seed, lp.id, lp.random_counter));
    if (sigsetjmp(guard_.env(), 0) != 0) {
        handler_failed(leave_crashed_handler(guard_));
    }
    const bool well = call_handler_of(lp, guard_, failure_, [&] {
        if (may_schedule_) {
            lp.process->on_start(context);
            if (world_.plan.setup.process.has_end_condition) lp.ended = lp.process->can_end();
        } else {
            lp.process->on_end(context);
        }
    });
    if (!well) handler_failed(failure_);
    lp.random_counter = context.random().counter();
    release_sends();
}

std::uint64_t InOrderExecutor::run(VirtualTime horizon, std::uint64_t events_max) {
    hook_ = "";
    if (sigsetjmp(guard_.env(), 0) != 0) {
        handler_failed(leave_crashed_handler(guard_));
    }
    const Partition& partition = world_.plan.partition;
    std::uint64_t executed = 0;
    while (executed < events_max && !all_ended()) {
        const PendingEntry* top = pending_.top();
        if (top == nullptr || top->time >= horizon) break;
        const PendingEntry entry = *top;
        pending_.pop();
        prefetch_upcoming();
        const Partition::Place place = partition.place(entry.target);
        Group& group = *world_.groups[place.group];
        execute(group, group.lps[place.index], *entry.event);
        ++executed;
    }
    counters_[Counter::executed_events] += executed;
    counters_[Counter::committed_events] += executed;
    return executed;
}

// In two steps: the LP's record and the event first, the model's object once the record is here.
inline void InOrderExecutor::prefetch_upcoming() {
    const auto lp_of = [&](const PendingEntry& entry) -> LpRecord& {
        const Partition::Place place = world_.plan.partition.place(entry.target);
        return world_.groups[place.group]->lps[place.index];
    };
    if (const PendingEntry* later = pending_.upcoming(prefetch_far)) {
        const LpRecord& lp = lp_of(*later);
        prefetch(&lp);
        prefetch(&lp.digest);
        prefetch(later->event);
    }
    if (const PendingEntry* soon = pending_.upcoming(prefetch_near)) prefetch(lp_of(*soon).process);
}

void InOrderExecutor::execute(Group& group, LpRecord& lp, EventRecord& event) {
    lp_ = &lp;
    event_ = &event;
    key_ = event.key();
    Context context = make_context(event.time, LpId{lp.id}, world_.plan.rules.lps,
                                   Random(world_.plan.config.seed, lp.id, lp.random_counter));
    const Event view = event.view();
    const ProcessFactory& process = world_.plan.setup.process;
    bool lets_end = false;
    const bool well = call_handler_of(lp, guard_, failure_, [&] {
        lp.process->on_event(context, view);
        if (process.has_end_condition && !lp.ended) lets_end = lp.process->can_end();
        detail::blocks_drawn(lp.random_counter, context.random().counter());
    });
    if (!well) [[unlikely]]
        handler_failed(failure_);
    lp.random_counter = context.random().counter();
    release_sends();
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    last_time_ = event.time;
    if (process.has_commit) {
        hook_ = "on_commit()";
        if (!call_guarded(guard_, nullptr, failure_, [&] { lp.process->on_commit(view); }))
            handler_failed(failure_);
        hook_ = "";
    }
    if (lets_end) {
        lp.ended = true;
        --lps_not_ended_;
    }
    group.heap.free(&event, event.bytes());
}

void InOrderExecutor::handler_failed(std::string_view what) {
    if (event_ == nullptr)
        throw ModelError(
            fmt::format("LP {} at time {} in {}: {}", lp_->id, key_.time, hook_, what));
    throw ModelError(fmt::format("LP {} at time {}, event of type {} from LP {}: {}{}{}", lp_->id,
                                 event_->time, event_->type, event_->sender, hook_,
                                 *hook_ != '\0' ? ": " : "", what));
}

// --- Sends -----------------------------------------------------------------------------------------

void InOrderExecutor::schedule(Context& context, LpId target, VirtualTime delay, EventType type,
                               std::span<const std::byte> payload) {
    detail::check_schedule(world_.plan.rules, context.self(), context.now(), target, delay,
                           payload.size());
    if (!may_schedule_) throw ModelError("schedule() when the run is over");
    const VirtualTime time = context.now() + delay;
    EventHeader header{};
    header.sequence = lp_->sequence++;
    if (time >= world_.plan.until) {
        dropped_beyond_end_ = true;
        return;
    }
    header.time = time;
    header.generation = detail::generation_after(key_.generation, context.now(), time);
    header.sender = lp_->id;
    header.target = index(target);
    header.type = type;
    header.payload_bytes = static_cast<std::uint16_t>(payload.size());
    const Partition& partition = world_.plan.partition;
    const std::uint32_t g = partition.place(header.target).group;
    if (partition.first_owner(g).worker == self_) {
        EventRecord& event = new_event(*world_.groups[g], header, payload.data());
        event.next_sent = sent_;
        sent_ = &event;
    } else {
        const PlatformScope platform;
        ++counters_[Counter::events_crossed];
        outbox_.append(WireEvent{header, 0, WireKind::event, {}}, payload.data());
    }
}

EventRecord& InOrderExecutor::new_event(Group& group, const EventHeader& header,
                                        const std::byte* payload) {
    auto& event =
        *static_cast<EventRecord*>(group.heap.allocate(sizeof(EventRecord) + header.payload_bytes));
    static_cast<EventHeader&>(event) = header;
    if (header.payload_bytes > 0) std::memcpy(event.payload(), payload, header.payload_bytes);
    return event;
}

void InOrderExecutor::release_sends() {
    while (EventRecord* event = sent_) {
        sent_ = event->next_sent;
        pending_.push(event->entry());
    }
}

void InOrderExecutor::send_mail() {
    for_each_wire_event(outbox_.data(), outbox_.size(), [&](const WireEvent& wire) {
        const std::uint32_t g = world_.plan.partition.place(wire.target).group;
        world_.groups[g]->mail.push(
            reinterpret_cast<const std::byte*>(&wire), wire.bytes(),
            world_.ready_lists[world_.plan.partition.first_owner(g).worker]);
    });
    outbox_.clear();
}

void InOrderExecutor::fetch_mail() {
    BottomHalf* mail = world_.ready_lists[self_].take_all();
    while (mail != nullptr) {
        BottomHalf* next = mail->next_ready;
        Group& group = *world_.groups[mail->group()];
        const std::span<const std::byte> events = mail->drain();
        for_each_wire_event(events.data(), events.size(), [&](const WireEvent& wire) {
            pending_.push(new_event(group, wire, wire.payload()).entry());
        });
        mail = next;
    }
}

// --- Output and digest -----------------------------------------------------------------------------

void InOrderExecutor::output(Context&, std::size_t table, std::span<const OutputValue> row) {
    const std::size_t bytes = encoded_row_bytes(world_.plan.setup.outputs, table, row);
    const PlatformScope platform;
    ++counters_[Counter::output_rows];
    if (!world_.output.wanted()) return;
    OutputRow& kept = rows_.emplace_back();
    kept.key = key_;
    kept.table = static_cast<std::uint32_t>(table);
    kept.values.resize(bytes);
    encode_row(row, kept.values.data());
}

void InOrderExecutor::hand_over_output(VirtualTime bound) {
    if (rows_.size() >= rows_worth_handing_over || bound == time_infinity) {
        world_.output.hand_over(self_, rows_, bound);
    } else {
        // Rows are kept in order: the first is the earliest that is still to be handed over.
        world_.output.promise(self_, rows_.empty() ? bound : rows_.front().key.time);
    }
}

void InOrderExecutor::add_digest(Digest& sum) const noexcept {
    for (const Group* group : groups_)
        for (std::uint32_t i = 0; i < group->count; ++i)
            sum += group->lps[i].digest.term(LpId{group->lps[i].id});
}

}  // namespace nw
