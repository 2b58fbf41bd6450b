// A worker's sends: what a handler schedules becomes an event record here or a wire event for another
// worker, and leaves when the handler has returned.

#include <cstring>

#include "lp/side_effects.hpp"
#include "numa/handler/heap_scope.hpp"
#include "output/output_row.hpp"
#include "timewarp/worker.hpp"
#include "worker/worker_core_inline.hpp"

namespace nw {
void Worker::schedule(Context& context, LpId target, VirtualTime delay, EventType type,
                      std::span<const std::byte> payload) {
    detail::check_schedule(core_.plan.rules, context.self(), context.now(), target, delay,
                           payload.size());
    const PlatformScope platform;  // from here on it must not be torn by an interruption
    LpRecord& lp = *core_.running.lp;
    HistoryEntry& entry = *core_.running.entry;
    const std::uint32_t sequence = lp.sequence;
    const VirtualTime time = context.now() + delay;
    if (core_.running.silent || time >= core_.plan.until) {
        ++lp.sequence;
        if (core_.running.silent) return;
        ++entry.sent_count;
        ending_.note_dropped();
        return;
    }
    const EventHeader header{
        .time = time,
        .generation = detail::generation_after(core_.running.generation, context.now(), time),
        .sender = lp.id,
        .sequence = sequence,
        .serial = lp.serial++,
        .target = index(target),
        .type = type,
        .payload_bytes = static_cast<std::uint16_t>(payload.size())};
    const Partition::Place place = core_.plan.partition.place(index(target));
    if (core_.rank.owner(place.group) == core_.self) [[likely]] {
        EventRecord& event = new_event(*core_.rank.group(place.group), header, payload.data());
        event.next_sent = entry.sent;
        entry.sent = &event;
        ++lp.sequence;
        ++entry.sent_count;
        return;
    }
    const WireEvent wire{header, 0, WireKind::event, {}};
    staged_.append(wire, payload.data());
    add_anti_message(entry, header, core_.running.group->heap);
    // Counted only now: the payload was the model's to read, and could have been a bad pointer.
    ++lp.sequence;
    ++entry.sent_count;
}

void Worker::output(Context&, std::size_t table, std::span<const OutputValue> row) {
    // First the rules: a handler that was refused a row, and went on, is refused it again in coasting.
    const std::size_t bytes = encoded_row_bytes(core_.plan.setup.outputs, table, row);
    if (core_.running.silent) return;
    const PlatformScope platform;
    SideEffect& effect = add_side_effect(*core_.running.entry, SideEffect::Kind::output_row, bytes,
                                         core_.running.group->heap);
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

void Worker::publish_staged() {
    for_each_wire_event(staged_.data(), staged_.size(),
                        [&](const WireEvent& wire) { publish(wire, wire.payload()); });
    staged_.clear();
}

void Worker::publish(const WireEvent& wire, const std::byte* payload) {
    if (outboxes_.send(wire, payload)) {
        ++core_.counters[Counter::credit_stops];
        throttle_.stay_at_gvt();
    }
}

}  // namespace nw
