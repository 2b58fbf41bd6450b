// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/pauses.hpp"

#include <utility>

#include "engine/checkpoint/paused_run.hpp"
#include "engine/checkpoint/saved_group.hpp"
#include "engine/lp_lifetime.hpp"
#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/safe_horizon.hpp"
#include "engine/timewarp/worker/standstill.hpp"
#include "engine/timewarp/worker/throttle.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "results/measures/interval_sums.hpp"
#include "util/check.hpp"

namespace nw {

// --- The pause -----------------------------------------------------------------------------------

void Pauses::begin(const GvtResult& result) {
    const Contribution& requests = result.sums;
    // The bound is GVT with its generation. It never decreases, so nothing before the bound can be
    // undone.
    standstill_.begin_pause(start_of(result.bound()),
                            {.save = requests.save != 0 || requests.stop != 0,
                             .move = requests.move != 0 && requests.leave == 0,
                             .leave = requests.leave != 0 && requests.stop == 0});
    const EventKey& bound = standstill_.bound();
    const std::uint64_t rolled_back = core_.counters[Counter::rolled_back_events];
    rollbacks_.roll_back_all_from(bound);
    rolled_back_ += core_.counters[Counter::rolled_back_events] - rolled_back;
    core_.lead = core_.gvt;
    // Commits all remaining events. With an end condition, commit lags one round behind
    // (ending.hpp).
    if (core_.plan.kinds.has_end_condition())
        ending_.look_at_pause(committer_, bound);
    else
        committer_.begin(bound);
}

void Pauses::on_gvt(const GvtResult& result) {
    if (ending_.on_gvt_while_pausing(result)) {
        committer_.begin(ending_.final_bound());
        standstill_.begin_end();
        return;
    }
    if (core_.plan.kinds.has_end_condition() && standstill_.rounds() == 1)
        committer_.begin(standstill_.bound());
    standstill_.on_gvt(result.quiesced);
}

void Pauses::contribute(Contribution& sums) const noexcept {
    sums.executed = core_.counters[Counter::executed_events] - rolled_back_;
    sums.rolled_back = core_.counters[Counter::rolled_back_events] - rolled_back_;
    sums.committed = core_.counters[Counter::committed_events];
}

void Pauses::resume() noexcept {
    standstill_.resume();
    throttle_.resume();
    safe_horizon_.resume();
}

void Pauses::end_interrupted() noexcept {
    standstill_.finish();
    ending_.end_interrupted(standstill_.bound().time);
}

// --- The worker's data in the pause --------------------------------------------------------------

// Usually no pending event is canceled, and then the pending set is not rewritten.
void Pauses::drop_canceled() {
    const auto is_canceled = [&](const PendingEntry& entry) {
        return rollbacks_.is_canceled(entry);
    };
    bool some_go = false;
    core_.pending.for_each([&](const PendingEntry& entry) { some_go |= is_canceled(entry); });
    if (!some_go) return;
    std::vector<PendingEntry> dropped;
    core_.pending.take_if(is_canceled, dropped);
    for (const PendingEntry& entry : dropped) {
        LpRecord& lp = core_.lp(entry.target);
        rollbacks_.drop_if_canceled(core_.group_of(lp), lp, core_.short_events.record_of(entry));
    }
}

// Evaluates all intervals that have ended, for all LPs: the next owner of a group assumes this
// (LpStages::resume_copy()).
void Pauses::finish_intervals() {
    if (core_.intervals == nullptr) return;
    sample_intervals(core_.groups, core_.plan, standstill_.bound().time, core_.running, core_.guard,
                     *core_.intervals);
}

// Drops the LPs' histories, but keeps the data from which their state-saving intervals are adapted.
void Pauses::forget_past(Group& group) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
        NW_CHECK(group.lps[i].committed == group.lps[i].history.tail());
        core_.drop_history(group, group.lps[i]);
    }
}

// --- Saving --------------------------------------------------------------------------------------

AddressRange Pauses::stack() const noexcept { return core_.rank.stacks()[core_.self.worker]; }

void Pauses::save_at(Clock::time_point time) noexcept { standstill_.save_at(time); }

SavedPart Pauses::save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) {
    NW_CHECK(committer_.all_is_final());
    TraceTurn trace(core_.trace);
    trace.begin();
    finish_intervals();
    drop_canceled();
    const PendingChains pending(core_.pending, core_.plan.partition);
    for (Group* group : core_.groups) forget_past(*group);
    SavedPart part =
        write_groups(core_.groups, pending, map, core_.plan.config.save.modules, file, file_number);
    part.progress.gvt = standstill_.bound().time;
    part.progress.end_key = ending_.last_key();
    part.progress.last_committed_time = committer_.last_committed_time();
    part.progress.totals = core_.counters;
    part.progress.totals[Counter::saved_states] += core_.keeper.saved_states();
    if (core_.intervals != nullptr) part.intervals = *core_.intervals;
    trace.mark(TraceKind::save, core_.groups.size());
    return part;
}

// --- Moving groups, and leaving ------------------------------------------------------------------

std::vector<std::optional<std::string>> Pauses::give_groups(
    const std::vector<std::uint32_t>& leaving, const std::vector<LoadedModule>& modules,
    const AddressMap& map, const std::function<bool(const StrayPointers&)>& may_leave) {
    NW_CHECK(committer_.all_is_final());
    finish_intervals();
    drop_canceled();
    const PendingChains pending(core_.pending, core_.plan.partition);
    std::vector<bool> leaves(core_.plan.partition.groups());
    std::vector<std::optional<std::string>> parcels;
    for (const std::uint32_t g : leaving) {
        Group& group = *core_.rank.group(g);
        forget_past(group);
        std::optional<std::string>& parcel = parcels.emplace_back(std::in_place);
        const StrayPointers strays =
            write_group(group, pending, map, modules, [&](const void* bytes, std::size_t size) {
                parcel->append(static_cast<const char*>(bytes), size);
            });
        leaves[g] = may_leave(strays);
        if (leaves[g]) {
            ending_.remove(group);
            for (std::uint32_t i = 0; i < group.count; ++i) core_.keeper.hand_over(group.lps[i]);
            ++core_.counters[Counter::groups_sent];
        } else {
            parcel.reset();
        }
    }
    std::vector<PendingEntry> gone;
    core_.pending.take_if(
        [&](const PendingEntry& entry) {
            return leaves[core_.plan.partition.position(entry.target).group];
        },
        gone);
    for (const PendingEntry& entry : gone) core_.short_events.drop(entry);
    std::erase_if(core_.groups, [&](const Group* group) { return leaves[group->mail.group()]; });
    return parcels;
}

void Pauses::leave_to(PausedRun& paused) {
    NW_CHECK(committer_.all_is_final());
    finish_intervals();
    drop_canceled();
    make_all_records(core_.short_events, core_.pending,
                     [&](std::uint32_t lp) -> Group& { return core_.group_of(core_.lp(lp)); });
    core_.pending.for_each([&](const PendingEntry& entry) {
        paused.pending[core_.plan.partition.position(entry.target).group].push_back(entry);
    });
    for (Group* group : core_.groups) {
        const std::uint32_t g = group->mail.group();
        NW_CHECK(group->unmatched_anti_messages.empty());
        for (std::uint32_t i = 0; i < group->count; ++i) core_.forget(*group, group->lps[i]);
        paused.groups[g] = core_.rank.take_group(g);
    }
    core_.groups.clear();
    core_.count_saved_states();
    PausedWorker& worker = paused.workers[core_.self.worker];
    worker.tally.counters = core_.counters;
    worker.tally.figures = core_.figures;
    if (core_.intervals != nullptr) worker.intervals = *core_.intervals;
    worker.last_committed_time = committer_.last_committed_time();
    worker.dropped_beyond_end = core_.rank.gvt().result().sums.sent_beyond_end > 0;
}

}  // namespace nw
