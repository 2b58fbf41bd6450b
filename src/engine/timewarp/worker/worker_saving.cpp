// SPDX-License-Identifier: Apache-2.0
// Pauses, in which the whole run is saved or groups move between ranks (worker_moving.cpp).
//
// A pause begins at a GVT round, as the end of a run does (standstill.hpp). Everything beyond that
// GVT is undone at once, so that no worker sends anything after its next cut. Unlike at the end,
// messages that still arrive are kept.

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/paused_run.hpp"
#include "engine/checkpoint/saved_group.hpp"
#include "engine/event_flow.hpp"
#include "engine/lp_lifetime.hpp"
#include "engine/timewarp/parts/worker_core_inline.hpp"
#include "engine/timewarp/worker/worker.hpp"

namespace nw {

// --- Pausing -------------------------------------------------------------------------------------

void Worker::begin_pause(const GvtResult& result) {
    ahead_->forget();
    const Contribution& asked = result.sums;
    // GVT with its generation. It never decreases, so nothing before it may be undone.
    standstill_.begin_pause(start_of(result.bound()),
                            {.save = asked.save != 0 || asked.stop != 0,
                             .move = asked.move != 0 && asked.leave == 0,
                             .leave = asked.leave != 0 && asked.stop == 0});
    const EventKey& bound = standstill_.bound();
    const std::uint64_t rolled_back = core_.counters[Counter::rolled_back_events];
    committer_.for_each_uncommitted([&](LpRecord& lp) {
        History::Ordinal position = lp.history.tail();
        while (position != lp.committed &&
               !before(core_.entry_at(lp, position - 1).event->key(), bound))
            --position;
        if (position == lp.history.tail()) return;
        roll_back(core_.group_of(lp), lp, position);
        cancel_processed();
    });
    rolled_back_by_pauses_ += core_.counters[Counter::rolled_back_events] - rolled_back;
    core_.lead = core_.gvt;
    // Commits all remaining events. With an end condition, commit lags one round behind
    // (ending.hpp).
    if (core_.plan.kinds.has_end_condition())
        ending_.look_at_pause(committer_, bound);
    else
        committer_.begin(bound);
}

void Worker::pause_on_gvt(const GvtResult& result) {
    if (ending_.on_gvt_while_pausing(result)) {
        committer_.begin(ending_.final_bound());
        standstill_.begin_end();
        return;
    }
    if (core_.plan.kinds.has_end_condition() && standstill_.rounds() == 1)
        committer_.begin(standstill_.bound());
    standstill_.on_gvt(result.quiesced);
}

void Worker::resume() noexcept {
    standstill_.resume();
    throttle_.resume();
    safe_horizon_.resume();
}

void Worker::end_interrupted() noexcept {
    standstill_.finish();
    ending_.end_interrupted(standstill_.bound().time);
}

// --- Saving --------------------------------------------------------------------------------------

// Makes records for the pending events (as put_all_on_record()), and calls keep() for each of them.
// Drops events that were canceled or whose anti-messages have arrived. Usually there are none, and
// the pending set is not rewritten.
void Worker::settle_pending(bool except_bare, const KeepPending& keep) {
    put_all_on_record(*short_, pending_, except_bare,
                      [&](std::uint32_t lp) -> Group& { return core_.group_of(core_.lp(lp)); });
    bool some_go = false;
    pending_.for_each([&](const PendingEntry& entry) {
        const std::uint32_t g = core_.plan.partition.position(entry.target).group;
        if (!entry.has_record()) {
            keep(g, entry);
            return;
        }
        EventRecord& event = *entry.record();
        LpRecord& record = core_.lp(entry.target);
        if (event.status != EventStatus::cancelled && event.from_other_worker &&
            record.unmatched_anti_messages > 0 && take_anti(*core_.rank.group(g), record, event))
            event.status = EventStatus::cancelled;
        if (event.status == EventStatus::cancelled)
            some_go = true;
        else
            keep(g, entry);
    });
    if (some_go) drop_cancelled();
}

PendingChains Worker::chain_pending() {
    PendingChains pending(core_.plan.partition.groups());
    settle_pending(false, [&](std::uint32_t g, const PendingEntry& entry) {
        pending.add(g, *entry.record());
    });
    return pending;
}

void Worker::drop_cancelled() {
    std::vector<PendingEntry> dropped;
    pending_.take_if(
        [](const PendingEntry& entry) {
            return entry.has_record() && entry.record()->status == EventStatus::cancelled;
        },
        dropped);
    for (const PendingEntry& entry : dropped)
        core_.group_of(core_.lp(entry.target)).heap.free(entry.record(), entry.record()->bytes());
}

// Evaluates all intervals that have ended, for all LPs: the next owner of a group assumes this
// (go_on_with()).
void Worker::look_at_all_intervals() {
    if (core_.intervals == nullptr) return;
    nw::look_at_intervals(core_.groups, core_.plan, standstill_.bound().time, core_.running,
                          core_.guard, *core_.intervals);
}

// Drops the LPs' histories, but keeps the data from which their state-saving intervals are adapted.
void Worker::forget_past(Group& group) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
        NW_CHECK(group.lps[i].committed == group.lps[i].history.tail());
        core_.drop_history(group, group.lps[i]);
    }
}

SavedPart Worker::save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) {
    NW_CHECK(committer_.all_is_final());
    TraceTurn trace(core_.trace);
    trace.begin();
    look_at_all_intervals();
    const PendingChains pending = chain_pending();
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

// --- Leaving the run to another engine -----------------------------------------------------------

void Worker::leave_to(PausedRun& paused) {
    NW_CHECK(committer_.all_is_final());
    look_at_all_intervals();
    settle_pending(true, [&](std::uint32_t g, const PendingEntry& entry) {
        paused.pending[g].push_back(entry);
    });
    for (Group* group : core_.groups) {
        const std::uint32_t g = group->mail.group();
        NW_CHECK(group->unmatched_anti_messages.empty());
        for (std::uint32_t i = 0; i < group->count; ++i) core_.forget(*group, group->lps[i]);
        paused.groups[g] = core_.rank.take_group(g);
    }
    core_.groups.clear();
    count_saved_states(core_.counters);
    PausedWorker& worker = paused.workers[core_.self.worker];
    worker.tally.counters = core_.counters;
    worker.tally.figures = core_.figures;
    if (core_.intervals != nullptr) worker.intervals = *core_.intervals;
    worker.last_committed_time = committer_.last_committed_time();
    worker.dropped_beyond_end = ending_.sent_beyond_end() > 0;
}

}  // namespace nw
