// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/sends.hpp"

#include <cstring>

#include "api/make_context.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/throttle.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/side_effects.hpp"
#include "memory/handler/heap_scope.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/output/output_row.hpp"
#include "util/check.hpp"

namespace nw {

Sends::Sends(WorkerCore& core, Throttle& throttle, Ending& ending)
    : EventSink(core.plan.rules, core.plan.config.seed),
      core_(core),
      throttle_(throttle),
      ending_(ending),
      outboxes_(core) {}

void Sends::send(const detail::ScheduledEvent& event) {
    const PlatformScope platform;  // from here on an interruption would leave incomplete data
    if (core_.running.silent) {
        ++core_.running.lp->sequence;
        return;
    }
    HistoryEntry& entry = *core_.running.entry;
    schedule_event(
        core_.plan, core_.running, event, entry.sent,
        [&](std::uint32_t g) {
            return core_.rank.owner(g) == core_.self ? core_.rank.group(g) : nullptr;
        },
        [&](const EventHeader& header) {
            const bool is_irrevocable = core_.is_running_irrevocable();
            staged_.append(WireEvent{header, 0, WireKind::event, is_irrevocable, {}},
                           event.payload.data());
            if (!is_irrevocable) add_anti_message(entry, header, core_.running.group->heap);
        },
        [&] { ending_.note_beyond_end(); });
    ++entry.sent_count;
}

void Sends::output(Context&, std::size_t table, std::span<const OutputValue> row) {
    // The rules are checked also while coasting forward: if a handler has caught the exception for
    // a refused row, the row must be refused again.
    const std::size_t bytes = encoded_row_bytes(core_.plan.setup.outputs, table, row);
    if (core_.running.silent) return;
    const PlatformScope platform;
    SideEffect& effect = add_side_effect(*core_.running.entry, SideEffect::Kind::output_row, bytes,
                                         core_.running.group->heap);
    effect.table = static_cast<std::uint16_t>(table);
    encode_row(row, effect.content());
}

void Sends::release_shortened(const HistoryEntry& entry) {
    for (EventRecord* sent = entry.sent; sent != nullptr;) {
        EventRecord* const next = sent->next_sent;
        Group& group = core_.group_of(core_.lp(sent->target));
        core_.pending.push(shortened(core_.short_events, sent->entry(), group));
        sent = next;
    }
    if (!staged_.empty()) publish_staged();
}

void Sends::publish_staged() {
    for_each_wire_event(staged_.data(), staged_.size(),
                        [&](const WireEvent& wire) { publish(wire, wire.payload()); });
    staged_.clear();
}

void Sends::publish(const WireEvent& wire, const std::byte* payload) {
    if (outboxes_.send(wire, payload)) {
        ++core_.counters[Counter::credit_stops];
        throttle_.stay_at_gvt();
    }
}

void Sends::drop() {
    auto& [group, lp, event, entry, hook_key, silent, hook] = core_.running;
    std::uint32_t beyond_end = entry->sent_count;
    const auto count = [&](VirtualTime time) { beyond_end -= time < core_.plan.until ? 1 : 0; };
    for_each_wire_event(staged_.data(), staged_.size(),
                        [&](const WireEvent& wire) { count(wire.time); });
    staged_.clear();
    lp->sequence -= core_.short_events.drop();
    while (EventRecord* sent = entry->sent) {
        count(sent->time);
        entry->sent = sent->next_sent;
        const Partition::Position position = core_.plan.partition.position(sent->target);
        free_event(*core_.rank.group(position.group), *sent);
    }
    ending_.take_back_beyond_end(beyond_end);
    take_back_figures(*group, *lp, *entry);
    free_side_effects(*entry, group->heap);
    lp->sequence -= entry->sent_count;
    entry->sent_count = 0;
    entry->random_used = 0;
}

void Sends::add_figures(Group& group, const LpRecord& lp, VirtualTime now) {
    std::uint32_t& seen = group.intervals_seen_of(lp);
    if (!core_.intervals->is_due(seen, now)) return;
    const std::uint32_t ended = core_.intervals->times().ended_by(now);
    core_.intervals->sample(*lp.process, seen, ended);
    const PlatformScope platform;
    const std::span<const std::byte> figures = core_.intervals->last_sample();
    SideEffect& effect = add_side_effect(*core_.running.entry, SideEffect::Kind::figures,
                                         figures.size(), group.heap);
    std::memcpy(effect.content(), figures.data(), figures.size());
    seen = ended;
}

void Sends::take_back_figures(Group& group, const LpRecord& lp,
                              const HistoryEntry& entry) noexcept {
    if (core_.intervals == nullptr) return;
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next)
        if (effect->kind == SideEffect::Kind::figures)
            group.intervals_seen_of(lp) = IntervalSums::first_of(effect->bytes_of());
}

void Sends::validate() const { NW_CHECK(staged_.empty()); }

}  // namespace nw
