// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/lp_stages.hpp"

#include <algorithm>

#include "api/make_context.hpp"
#include "engine/checkpoint/paused_run.hpp"
#include "engine/checkpoint/saved_group.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "engine/lp_lifetime.hpp"
#include "engine/timewarp/rank/cpu_assignments.hpp"
#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/sends.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/side_effects.hpp"
#include "results/measures/interval_sums.hpp"
#include "util/check.hpp"

namespace nw {

// --- Before --------------------------------------------------------------------------------------

void LpStages::build_groups() {
    for (std::uint32_t g = 0; g < core_.plan.partition.groups(); ++g)
        if (core_.plan.partition.first_owner(g) == core_.self)
            build_group(g, &core_.rank.memory_budget());
    if (!core_.plan.notes_constructed()) return;
    const AddressMap map(core_.rank.os(), {core_.rank.stacks()[core_.self.worker]});
    for (Group* group : core_.groups) note_constructed(*group, map);
}

Group& LpStages::build_group(std::uint32_t g, MemoryBudget* budget) {
    Group& group = settle_in(core_.rank.make_group(g));
    build_lps(group, core_.plan, budget, core_.running, core_.guard);
    return group;
}

// Makes the worker the owner of the group.
Group& LpStages::settle_in(Group& group) {
    group.memory.set_home(core_.rank.assignments().node_of(core_.self.worker));
    core_.groups.push_back(&group);
    return group;
}

void LpStages::start(WorkerCore::Clock::time_point now) {
    core_.now = now;
    core_.marks.begin(core_.now);
    start_lps(
        core_.groups, core_.rank.memory_budget(), core_.running,
        [this](Group& group, LpRecord& lp) { run_on_start(group, lp); },
        [this] {
            sends_.outboxes().flush(false);
            if (!core_.plan.config.net_thread) core_.rank.net_step(core_.now, core_.marks);
            inbox_.drain();
        });
    sends_.outboxes().flush(true);
}

void LpStages::run_on_start(Group& group, LpRecord& lp) {
    // The effects of on_start() are final immediately; the entry only collects them.
    HistoryEntry entry{};
    core_.running = {&group, &lp, nullptr, &entry, {.sender = lp.id}, false, "on_start()"};
    core_.short_events.send_for(lp.sequence);
    Context context = core_.uses_log ? sends_.make_context(0, lp.id, lp.random_counter,
                                                           core_.short_events.buffer())
                                     : sends_.make_context(0, lp.id, lp.random_counter);
    call_on_start(core_.running, core_.plan, context, core_.guard);
    Sends::release_short<true>(core_, sends_, lp);
    if (core_.uses_log)
        sends_.release_shortened(entry);
    else
        sends_.release(entry);
    committer_.take_rows(entry, core_.running.key());
    free_side_effects(entry, group.heap);
    if (core_.plan.config.check_rollback > 0) lp.heap.set_zero_fill();
    core_.keeper.begin(lp);
    ending_.add(lp);
    core_.running = {};
}

// Continues with a group from a saved run or from another rank. `now`: GVT at the pause.
void LpStages::resume_copy(Group& group, const std::vector<EventRecord*>& pending,
                           VirtualTime now) {
    if (core_.plan.measure_times.on())
        group.intervals_seen.assign(group.count, core_.plan.measure_times.ended_by(now));
    for (EventRecord* event : pending)
        core_.pending.push(core_.uses_log ? shortened(core_.short_events, event->entry(), group)
                                          : event->entry());
    resume(group);
}

void LpStages::resume(Group& group) {
    ending_.add(group);
    for (std::uint32_t i = 0; i < group.count; ++i) {
        core_.keeper.resume(group.lps[i], group.heap);
        if (core_.plan.config.check_rollback > 0) group.lps[i].heap.set_zero_fill();
    }
}

void LpStages::read_groups(const SavedRun& saved) {
    SavedGroups groups(saved);
    for (std::uint32_t g = 0; g < core_.plan.partition.groups(); ++g) {
        if (!(core_.plan.partition.first_owner(g) == core_.self)) continue;
        Group& group = build_group(g, &core_.rank.memory_budget());
        const std::vector<EventRecord*> pending = groups.read(group);
        for (const EventRecord* event : pending)
            if (event->time >= core_.plan.until) ending_.note_beyond_end();
        resume_copy(group, pending, saved.progress.gvt);
        for (std::uint32_t i = 0; i < group.count; ++i) core_.rank.memory_budget().note_started();
    }
    core_.gvt = saved.progress.gvt;
    core_.lead = core_.gvt;
    ending_.resume_from(saved.progress.gvt);
    if (core_.self == Partition::Owner{0, 0}) {
        ending_.resume_last_key(saved.progress.end_key);
        committer_.resume_from(saved.progress.last_committed_time);
    }
}

void LpStages::continue_from(PausedRun& paused) {
    for (std::uint32_t g = 0; g < core_.plan.partition.groups(); ++g) {
        if (!(core_.plan.partition.first_owner(g) == core_.self)) continue;
        NW_CHECK(paused.groups[g] != nullptr);
        Group& group = settle_in(core_.rank.put_group(std::move(paused.groups[g])));
        for (const PendingEntry& entry : std::exchange(paused.pending[g], {}))
            core_.pending.push(entry);
        resume(group);
    }
    const PausedWorker& worker = paused.workers[core_.self.worker];
    core_.counters = worker.tally.counters;
    core_.uncommitted_taken_over = -static_cast<std::int64_t>(
        core_.counters[Counter::executed_events] - core_.counters[Counter::rolled_back_events] -
        core_.counters[Counter::committed_events]);
    core_.figures = worker.tally.figures;
    if (core_.intervals != nullptr) *core_.intervals = worker.intervals;
    core_.gvt = paused.gvt;
    core_.lead = core_.gvt;
    committer_.resume_from(worker.last_committed_time);
    if (worker.dropped_beyond_end) ending_.note_beyond_end();
}

void LpStages::take_group(std::uint32_t g, std::string_view bytes, VirtualTime now) {
    Group& group = build_group(g, nullptr);
    resume_copy(group,
                read_group(group,
                           [&](void* to, std::size_t size) {
                               NW_CHECK(size <= bytes.size());
                               std::copy_n(bytes.data(), size, static_cast<char*>(to));
                               bytes.remove_prefix(size);
                           }),
                now);
    NW_CHECK(bytes.empty());
}

// --- After ---------------------------------------------------------------------------------------

void LpStages::finalize() {
    committer_.take_into_histories(EventKey{});
    for (Group* group : core_.groups) {
        core_.counters[Counter::mail_spilled_bytes] += group->memory.mail().spilled_bytes();
        for (std::uint32_t i = 0; i < group->count; ++i) {
            LpRecord& lp = group->lps[i];
            if (lp.committed == lp.history.tail() || !core_.keeper.can_restore(lp)) continue;
            rollbacks_.restore_state(*group, lp, lp.committed);
            for (History::Ordinal p = lp.history.tail(); p != lp.committed;)
                sends_.take_back_figures(*group, lp, core_.entry_at(lp, --p));
        }
    }
    core_.count_saved_states();
}

void LpStages::run_on_end(LpRecord& lp, VirtualTime end_time, MeasureSums& measures) {
    HistoryEntry entry{};
    Group& group = core_.group_of(lp);
    core_.running = {&group, &lp,       nullptr, &entry, {.time = end_time, .sender = lp.id},
                     false,  "on_end()"};
    Context context = sends_.make_context(end_time, lp.id, lp.random_counter);
    call_on_end(core_.running, core_.plan, context, core_.guard, measures);
    // These rows come after all rows of events. Over all ranks, they are in the order of LPs.
    committer_.take_rows(entry, EventKey{time_infinity, 0, lp.id, 0});
    committer_.write_rows();
    free_side_effects(entry, group.heap);
    core_.running = {};
}

void LpStages::destroy_lps(const std::atomic<int>& stop_signal) {
    nw::destroy_lps(core_.groups, core_.plan, ending_.time(), stop_signal, core_.running,
                    core_.guard);
}

}  // namespace nw
