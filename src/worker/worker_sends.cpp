// A worker's sends: what a handler schedules becomes an event record here or a wire event for another
// worker, leaves when the handler has returned, and travels in outboxes to bottom halves and ranks.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "numa/handler/heap_scope.hpp"
#include "worker/worker.hpp"

namespace nw {
namespace {

// A batch for another rank is closed when it is full (Transport::batch_bytes), or at this age.
constexpr std::chrono::microseconds batch_age_max{50};

// What a worker may send to other ranks between two results of GVT before it stops running ahead. A
// round takes a millisecond, in which nobody sends a tenth of this; only when a rank does not answer
// is it used up, and then it bounds what waits in the others' memory.
constexpr std::uint32_t messages_credited = 1 << 16;

}  // namespace

void Worker::schedule(Context& context, LpId target, VirtualTime delay, EventType type,
                      std::span<const std::byte> payload) {
    detail::check_schedule(plan_.rules, context.self(), context.now(), target, delay,
                           payload.size());
    const PlatformScope platform;  // from here on it must not be torn by an interruption
    LpRecord& lp = *running_.lp;
    HistoryEntry& entry = *running_.entry;
    const std::uint32_t sequence = lp.sequence;
    const VirtualTime time = context.now() + delay;
    if (running_.silent || time >= plan_.until) {
        ++lp.sequence;
        if (running_.silent) return;
        ++entry.sent_count;
        ++dropped_beyond_end_;
        return;
    }
    const EventHeader header{
        .time = time,
        .generation = detail::generation_after(running_.generation, context.now(), time),
        .sender = lp.id,
        .sequence = sequence,
        .serial = lp.serial++,
        .target = index(target),
        .type = type,
        .payload_bytes = static_cast<std::uint16_t>(payload.size())};
    const Partition::Place place = plan_.partition.place(index(target));
    if (rank_.owner(place.group) == self_) [[likely]] {
        EventRecord& event = new_event(*rank_.group(place.group), header, payload.data());
        event.next_sent = entry.sent;
        entry.sent = &event;
        ++lp.sequence;
        ++entry.sent_count;
        return;
    }
    const WireEvent wire{header, 0, WireKind::event, {}};
    staged_.append(wire, payload.data());
    new_anti_message(*running_.group, entry, header);
    // Counted only now: the payload was the model's to read, and could have been a bad pointer.
    ++lp.sequence;
    ++entry.sent_count;
}

void Worker::output(Context&, std::size_t table, std::span<const OutputValue> row) {
    // First the rules: a handler that was refused a row, and went on, is refused it again in coasting.
    const std::size_t bytes = encoded_row_bytes(plan_.setup.outputs, table, row);
    if (running_.silent) return;
    const PlatformScope platform;
    SideEffect& effect =
        new_side_effect(*running_.group, *running_.entry, SideEffect::Kind::output_row, bytes);
    effect.table = static_cast<std::uint16_t>(table);
    encode_row(row, effect.content());
}

EventRecord& Worker::new_event(Group& group, const EventHeader& header, const std::byte* payload) {
    auto& event =
        *static_cast<EventRecord*>(group.heap.allocate(sizeof(EventRecord) + header.payload_bytes));
    static_cast<EventHeader&>(event) = header;
    event.next_sent = nullptr;
    event.status = EventStatus::pending;
    event.from_other_worker = false;
    event.failed = false;
    event.lets_end = false;
    event.rollback_tried = false;
    event.put_aside = false;
    event.certain = false;
    if (header.payload_bytes > 0) std::memcpy(event.payload(), payload, header.payload_bytes);
    return event;
}

// What the execution sent beyond the end of the run: all that left no record.
std::uint32_t Worker::dropped_sends(const HistoryEntry& entry) noexcept {
    std::uint32_t dropped = entry.sent_count;
    for (const EventRecord* sent = entry.sent; sent != nullptr; sent = sent->next_sent) --dropped;
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next)
        if (effect->kind == SideEffect::Kind::remote_send) --dropped;
    return dropped;
}

SideEffect& Worker::new_side_effect(Group& group, HistoryEntry& entry, SideEffect::Kind kind,
                                    std::size_t bytes) {
    auto& effect = *static_cast<SideEffect*>(group.heap.allocate(sizeof(SideEffect) + bytes));
    effect.next = entry.side_effects;
    effect.bytes = static_cast<std::uint32_t>(bytes);
    effect.kind = kind;
    entry.side_effects = &effect;
    return effect;
}

// The anti-message of what the execution sent, ready to go.
void Worker::new_anti_message(Group& group, HistoryEntry& entry, const EventHeader& event) {
    WireEvent anti{event, 0, WireKind::anti_message, {}};
    anti.payload_bytes = 0;
    SideEffect& record = new_side_effect(group, entry, SideEffect::Kind::remote_send, sizeof anti);
    std::memcpy(record.content(), &anti, sizeof anti);
}

void Worker::free_side_effects(Group& group, HistoryEntry& entry) noexcept {
    while (SideEffect* effect = entry.side_effects) {
        entry.side_effects = effect->next;
        group.heap.free(effect, effect->total_bytes());
    }
}

void Worker::publish_staged() {
    for_each_wire_event(staged_.data(), staged_.size(),
                        [&](const WireEvent& wire) { publish(wire, wire.payload()); });
    staged_.clear();
}

void Worker::publish(WireEvent wire, const std::byte* payload) {
    wire.epoch = epochs_.send({wire.time, wire.generation});
    const Partition::Owner owner = rank_.addressee(plan_.partition.place(wire.target).group);
    if (owner.rank == self_.rank) {
        ++counters_[Counter::events_crossed];
        worker_outboxes_[owner.worker].append(wire, payload);
        return;
    }
    ++counters_[Counter::events_sent];
    if (owner.rank >= rank_outboxes_.size()) rank_outboxes_.resize(owner.rank + 1u);
    RankOutbox& outbox = rank_outboxes_[owner.rank];
    if (outbox.mail.size() + wire.bytes() > rank_.batch_bytes() && !outbox.mail.empty())
        close_batch(owner.rank);
    if (outbox.mail.empty()) outbox.opened = now_;
    outbox.mail.append(wire, payload);
    ++outbox.events_sent;
    if (++messages_since_gvt_ == messages_credited) {
        ++counters_[Counter::credit_stops];
        horizon_ = std::min(horizon_, std::nextafter(gvt_, time_infinity));
    }
}

void Worker::close_batch(std::uint32_t rank) {
    MailBuffer& mail = rank_outboxes_[rank].mail;
    ++counters_[Counter::batches_sent];
    counters_[Counter::bytes_sent] += mail.size();
    rank_.send_batch(RankId{rank}, mail);
    mail.clear();
}

void Worker::add_sent_to(std::vector<std::uint64_t>& sums) const {
    for (std::size_t r = 0; r < rank_outboxes_.size(); ++r)
        sums[r] += rank_outboxes_[r].events_sent;
}

void Worker::flush_outboxes(bool everything) {
    for (MailBuffer& outbox : worker_outboxes_) {
        if (outbox.empty()) continue;
        rank_.deliver(outbox.data(), outbox.size());
        outbox.clear();
    }
    for (std::uint32_t r = 0; r < rank_outboxes_.size(); ++r) {
        const RankOutbox& outbox = rank_outboxes_[r];
        if (outbox.mail.empty()) continue;
        if (everything || now_ - outbox.opened >= batch_age_max) close_batch(r);
    }
}

}  // namespace nw
