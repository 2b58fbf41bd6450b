// SPDX-License-Identifier: Apache-2.0
// A worker's sends. An event that a handler schedules becomes an event record, or a wire event for
// another worker. It leaves when the handler has returned.

#include <cstring>

#include "api/make_context.hpp"
#include "engine/event_flow.hpp"
#include "engine/timewarp/parts/worker_core_inline.hpp"
#include "engine/timewarp/worker/worker.hpp"
#include "lp/side_effects.hpp"
#include "memory/handler/heap_scope.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/output/output_row.hpp"

namespace nw {

void Worker::schedule(Context& context, LpId target, detail::ScheduledTime when, EventType type,
                      std::span<const std::byte> payload) {
    detail::check_schedule(core_.plan.rules, context.self(), context.now(), target, when,
                           payload.size());
    const PlatformScope platform;  // from here on an interruption would leave incomplete data
    if (core_.running.silent) {
        ++core_.running.lp->sequence;
        return;
    }
    HistoryEntry& entry = *core_.running.entry;
    schedule_event(
        core_.plan, core_.running, {target, when.time, type, payload, first_generation(context)},
        entry.sent,
        [&](std::uint32_t g) {
            return core_.rank.owner(g) == core_.self ? core_.rank.group(g) : nullptr;
        },
        [&](const EventHeader& header) {
            const bool is_irrevocable = is_running_irrevocable();
            staged_.append(WireEvent{header, 0, WireKind::event, is_irrevocable, {}},
                           payload.data());
            if (!is_irrevocable) add_anti_message(entry, header, core_.running.group->heap);
        },
        [&] { ending_.note_beyond_end(); });
    ++entry.sent_count;
}

void Worker::output(Context&, std::size_t table, std::span<const OutputValue> row) {
    // The rules are checked also while coasting forward: if a handler caught the exception for a
    // refused row, the row is refused again.
    const std::size_t bytes = encoded_row_bytes(core_.plan.setup.outputs, table, row);
    if (core_.running.silent) return;
    const PlatformScope platform;
    SideEffect& effect = add_side_effect(*core_.running.entry, SideEffect::Kind::output_row, bytes,
                                         core_.running.group->heap);
    effect.table = static_cast<std::uint16_t>(table);
    encode_row(row, effect.content());
}

// Evaluates the intervals that have ended. The figures become final with the event that is executed
// next.
[[gnu::noinline]] void Worker::look_at_intervals(Group& group, const LpRecord& lp,
                                                 VirtualTime now) {
    std::uint32_t& seen = group.intervals_seen_of(lp);
    if (!core_.intervals->is_due(seen, now)) return;
    const std::uint32_t ended = core_.intervals->times().ended_by(now);
    core_.intervals->look(*lp.process, seen, ended);
    const PlatformScope platform;
    const std::span<const std::byte> look = core_.intervals->last_look();
    SideEffect& effect =
        add_side_effect(*core_.running.entry, SideEffect::Kind::figures, look.size(), group.heap);
    std::memcpy(effect.content(), look.data(), look.size());
    seen = ended;
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
