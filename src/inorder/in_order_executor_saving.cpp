// Builds an executor's groups, reads them from a saved run, and saves them. Between two events, an
// executor has no history, so only its present state is saved.

#include "checkpoint/saved_group.hpp"
#include "checkpoint/saved_run.hpp"
#include "engine/event_flow.hpp"
#include "engine/lp_lifetime.hpp"
#include "inorder/in_order_executor.hpp"

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
    for (EventRecord* event : saved.read(group)) {
        dropped_beyond_end_ |= event->time >= world_.plan.until;
        pending_.push(event->entry());
    }
    lps_not_ended_ += not_ended(group);
    const RunPlan& plan = world_.plan;
    if (plan.measure_times.on())
        group.intervals_seen.assign(
            group.count, plan.measure_times.ended_by(plan.config.restart_from->progress.gvt));
    for (std::uint32_t i = 0; i < group.count; ++i) world_.budget.note_started();
}

// The key of the last event at which an LP allowed the end of the run is not saved. A restart does
// not need it: some LP has not allowed the end yet, and will do so at a later event.
SavedPart InOrderExecutor::save(SectionWriter& file, std::uint32_t file_number,
                                const AddressMap& map, VirtualTime gvt) {
    nw::look_at_intervals(groups_, world_.plan, gvt, call_, guard_, intervals_);
    put_all_on_record(short_, pending_, [&](std::uint32_t lp) -> Group& {
        return *world_.groups[world_.plan.partition.position(lp).group];
    });
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
