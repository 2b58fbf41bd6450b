// SPDX-License-Identifier: Apache-2.0
// Builds an executor's groups, reads them from a saved run or takes them from another engine, saves
// them, and gives them to another engine. Between two events, an executor has no history, so only
// its present state is saved.

#include "engine/checkpoint/paused_run.hpp"
#include "engine/checkpoint/saved_group.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "engine/event_flow.hpp"
#include "engine/inorder/in_order_executor.hpp"
#include "engine/lp_lifetime.hpp"

namespace nw {

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
    for (EventRecord* event : saved.read(group)) go_on_with(event->entry());
    lps_not_ended_ += not_ended(group);
    const MeasureTimes& times = world_.plan.measure_times;
    if (times.on())
        group.intervals_seen.assign(group.count,
                                    times.ended_by(world_.plan.config.restart_from->progress.gvt));
    for (std::uint32_t i = 0; i < group.count; ++i) world_.budget.note_started();
}

// Continues with a pending event from a saved run or from another engine.
void InOrderExecutor::go_on_with(const PendingEntry& entry) {
    dropped_beyond_end_ |= entry.time >= world_.plan.until;
    pending_.push(entry);
}

Group& InOrderExecutor::group_of(std::uint32_t lp) const noexcept {
    return *world_.groups[world_.plan.partition.position(lp).group];
}

// The LPs keep nothing that depends on the engine, so they need no change.
void InOrderExecutor::leave_to(PausedRun& paused, VirtualTime gvt) {
    nw::look_at_intervals(groups_, world_.plan, gvt, call_, guard_, intervals_);
    put_all_on_record(short_, pending_, true, [&](auto lp) -> Group& { return group_of(lp); });
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
        for (const PendingEntry& entry : std::exchange(paused.pending[g], {})) go_on_with(entry);
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
// not need it: some LP has not allowed the end yet, and will do so at a later event.
SavedPart InOrderExecutor::save(SectionWriter& file, std::uint32_t file_number,
                                const AddressMap& map, VirtualTime gvt) {
    nw::look_at_intervals(groups_, world_.plan, gvt, call_, guard_, intervals_);
    put_all_on_record(short_, pending_, false, [&](auto lp) -> Group& { return group_of(lp); });
    PendingChains pending(world_.plan.partition.groups());
    pending_.for_each([&](const PendingEntry& entry) {
        pending.add(world_.plan.partition.position(entry.target).group, *entry.record());
    });
    SavedPart part =
        write_groups(groups_, pending, map, world_.plan.config.save.modules, file, file_number);
    part.progress.gvt = gvt;
    part.progress.last_committed_time = last_time_;
    part.progress.totals = counters_;
    part.intervals = intervals_;
    return part;
}

}  // namespace nw
