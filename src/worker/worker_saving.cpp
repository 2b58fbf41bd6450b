// Standing still so that the whole run can be saved, and going on from what was saved.
//
// A pause begins at a GVT round, like the end of a run does: all workers learn of it with the same
// result. What lies beyond that GVT is taken back at once, so nobody sends anything after its next cut,
// and when two rounds later a quiesced one is done, nothing is in flight anywhere. What differs from
// the end is that what still arrives is kept.

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/saved_run_folder.hpp"
#include "worker/worker.hpp"

namespace nw {

// --- Pausing ---------------------------------------------------------------------------------------

void Worker::begin_pause(const GvtResult& result) {
    phase_ = Phase::pausing;
    save_key_ = {result.gvt, result.generation, 0, 0};
    save_due_ = GvtRounds::Clock::time_point::max();
    draining_since_ = epochs_.seen();
    const std::uint64_t rolled_back = counters_[Counter::rolled_back_events];
    for (const std::vector<LpRecord*>* lps : {&uncommitted_, &committing_}) {
        for (LpRecord* lp : *lps) {
            History::Ordinal position = lp->history.tail();
            while (position != lp->committed &&
                   !before(entry_at(*lp, position - 1).event->key(), save_key_))
                --position;
            if (position == lp->history.tail()) continue;
            roll_back(group_of(*lp), *lp, position);
            cancel_processed();
        }
    }
    rolled_back_by_pauses_ += counters_[Counter::rolled_back_events] - rolled_back;
    lead_ = gvt_;
    begin_final_commit();
}

// Of all that is left. With an end condition it lags one round behind (worker_commit.cpp).
void Worker::begin_final_commit() {
    if (!plan_.setup.process.has_end_condition) {
        begin_commit(save_key_);
    } else {
        scan_for_end(save_key_);
        previous_gvt_ = save_key_.time;
    }
}

void Worker::learn_while_pausing(const GvtResult& result) {
    if (plan_.setup.process.has_end_condition) {
        if (result.sums.not_ended == 0) {
            learn_all_can_end(result);
            return;
        }
        if (epochs_.seen() - draining_since_ == 1) begin_commit(save_key_);
    }
    if (epochs_.seen() - draining_since_ >= 2 && result.quiesced) nothing_in_flight_ = true;
}

void Worker::resume() noexcept {
    phase_ = Phase::running;
    nothing_in_flight_ = false;
    horizon_ = std::nextafter(gvt_, time_infinity);  // until the next round says more
}

void Worker::end_interrupted() noexcept {
    phase_ = Phase::finished;
    end_reason_ = EndReason::interrupted;
    end_time_ = save_key_.time;
}

// --- Saving ----------------------------------------------------------------------------------------

// The pending events, by group. Those that are cancelled, or whose anti-messages wait for them, go.
std::vector<std::vector<EventRecord*>> Worker::settle_pending() {
    std::vector<std::vector<EventRecord*>> pending(plan_.partition.groups());
    std::vector<PendingEntry> dropped;
    pending_.take_if(
        [&](const PendingEntry& entry) {
            EventRecord& event = *entry.event;
            if (event.status == EventStatus::cancelled) return true;
            const std::uint32_t g = plan_.partition.place(entry.target).group;
            LpRecord& record = lp(entry.target);
            if (event.from_other_worker && record.unmatched_anti_messages > 0 &&
                take_anti(*rank_.group(g), record, event))
                return true;
            pending[g].push_back(&event);
            return false;
        },
        dropped);
    for (const PendingEntry& entry : dropped)
        group_of(lp(entry.target)).heap.free(entry.event, entry.event->bytes());
    return pending;
}

SavedPart Worker::save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) {
    NW_CHECK(uncommitted_.empty() && committing_.empty());
    TraceTurn trace(trace_);
    trace.begin();
    const std::vector<std::vector<EventRecord*>> pending = settle_pending();
    for (Group* group : groups_) {
        for (std::uint32_t i = 0; i < group->count; ++i) {
            NW_CHECK(group->lps[i].committed == group->lps[i].history.tail());
            forget(*group, group->lps[i]);
        }
    }
    const std::vector<LoadedModule>& modules = plan_.config.save.modules;
    SavedPart part;
    for (const LoadedModule& module : modules) part.modules_at.push_back(module.begin);
    for (const Group* group : groups_) {
        const std::uint32_t g = group->mail.group();
        part.stray.combine(write_group(*group, pending[g], map, modules, file));
        part.groups.push_back({g, file_number, file.end_section()});
    }
    part.progress.gvt = save_key_.time;
    part.progress.end_key = end_key_;
    part.progress.dropped_beyond_end = dropped_beyond_end_;
    part.progress.last_committed_time = last_committed_time_;
    part.progress.totals = counters_;
    part.progress.totals[Counter::saved_states] = keeper_.saved_states();
    trace.mark(TraceKind::save, groups_.size());
    return part;
}

// --- Going on --------------------------------------------------------------------------------------

void Worker::read_groups(const SavedRun& saved) {
    // One is open at a time: a run of very many workers may go on with on few.
    std::optional<SectionReader> file;
    std::uint32_t number = 0;
    for (std::uint32_t g = 0; g < plan_.partition.groups(); ++g) {
        if (!(plan_.partition.first_owner(g) == self_)) continue;
        Group& group = build_group(g);
        const SavedGroup& from = saved.groups[g];
        if (!file || number != from.file) {
            number = from.file;
            file.emplace(saved.folder + "/" + saved.files[number]);
        }
        file->open(from.section);
        for (EventRecord* event : read_group(group, *file)) pending_.push(event->entry());
        lps_not_ended_ += not_ended(group);
        for (std::uint32_t i = 0; i < group.count; ++i) {
            keeper_.begin(group.lps[i]);
            if (draws_rollbacks_) group.lps[i].heap->set_zero_fill();
            rank_.memory_budget().note_started();
        }
    }
    gvt_ = previous_gvt_ = lead_ = saved.progress.gvt;
    if (self_ == Partition::Owner{0, 0}) {
        end_key_ = saved.progress.end_key;
        dropped_beyond_end_ = saved.progress.dropped_beyond_end;
        last_committed_time_ = saved.progress.last_committed_time;
    }
}

}  // namespace nw
