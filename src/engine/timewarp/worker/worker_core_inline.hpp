// SPDX-License-Identifier: Apache-2.0
// Functions of WorkerCore that access groups and are called for every event. They are not in
// worker_core.hpp, so that the users of worker_core.hpp need not include the rank, groups and their
// memory.
#pragma once

#include "engine/timewarp/rank/rank.hpp"
#include "engine/timewarp/worker/worker_core.hpp"
#include "lp/event_memory.hpp"
#include "plan/run_plan.hpp"
#include "util/prefetch.hpp"

namespace nw {

inline LpRecord& WorkerCore::lp(std::uint32_t id) const noexcept {
    const Partition::Position position = plan.partition.position(id);
    return rank.group(position.group)->lps[position.index];
}

inline Group& WorkerCore::group_of(const LpRecord& lp) const noexcept {
    return *rank.group(plan.partition.position(lp.id).group);
}

inline void WorkerCore::collect_fossils_before(Group& group, LpRecord& lp,
                                               History::Ordinal needed) noexcept {
    while (lp.history.head() != needed) {
        // The event was written long ago and is probably not in the cache. (Beyond the newest
        // entry, the ring contains an older entry; then the hint is useless but harmless.)
        prefetch(entry_at(lp, lp.history.head() + 4).event);
        EventRecord* event = entry_at(lp, lp.history.head()).event;
        free_event(group, *event);
        lp.history.drop_first();
    }
}

inline EventFigures& WorkerCore::figures_of(const LpRecord& lp, EventType type) noexcept {
    return figures.events[plan.kinds.slot(lp.kind, type)];
}

inline void WorkerCore::count_time(const LpRecord& lp, EventType type, Clock::time_point start,
                                   Clock::time_point end) {
    if (!counts_events()) return;
    figures_of(lp, type).count_time(end - start);
    if (trace.on()) [[unlikely]]
        trace.add(TraceKind::event, start, end, 1, lp.id, type);
}

inline void WorkerCore::drop_past(Group& group, LpRecord& lp) noexcept {
    if (lp.history.empty()) return;
    collect_fossils_before(group, lp, lp.committed);
    keeper.drop_past(lp, group.heap);
}

}  // namespace nw
