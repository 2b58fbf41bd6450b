// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/handovers.hpp"

#include <algorithm>

#include "engine/timewarp/rank/handover.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/side_effects.hpp"
#include "results/statistics/live_progress.hpp"
#include "util/handoff.hpp"
#include "util/meter_marks.hpp"

namespace nw {

bool Handovers::are_planned() const noexcept {
    const Rebinding::Plan& plan = core_.rank.rebinding().plan();
    return plan.round == core_.epochs.seen() && !plan.moves.empty();
}

void Handovers::on_gvt() {
    if (!are_planned()) return;
    const std::vector<GroupMove>& moves = core_.rank.rebinding().plan().moves;
    if (core_.self.worker == 0) ++core_.counters[Counter::rebindings];
    for (const GroupMove& move : moves) {
        if (move.from == core_.self.worker) leaving_.push_back(move);
        if (move.to == core_.self.worker) ++awaited_;
    }
}

void Handovers::note_backlogs() {
    struct Backlog {
        std::uint64_t events = 0;
        VirtualTime latest = 0;
    };
    std::vector<Backlog> backlogs(core_.plan.partition.groups());
    core_.pending.for_each([&](const PendingEntry& entry) {
        Backlog& backlog = backlogs[core_.plan.partition.position(entry.target).group];
        ++backlog.events;
        backlog.latest = std::max(backlog.latest, entry.time);
    });
    for (Group* group : core_.groups) {
        const Backlog& backlog = backlogs[group->mail.group()];
        group->load.note_backlog(backlog.events, backlog.latest - core_.gvt);
    }
}

std::vector<std::uint32_t> Handovers::new_workers() const {
    std::vector<std::uint32_t> worker_of(core_.plan.partition.groups(), core_.self.worker);
    for (const GroupMove& move : leaving_) worker_of[move.group] = move.to;
    return worker_of;
}

void Handovers::hand_over(const std::vector<std::uint32_t>& new_workers) {
    TraceTurn trace(core_.trace);
    trace.begin();
    const auto worker_of_lp = [&](std::uint32_t lp) {
        return new_workers[core_.plan.partition.position(lp).group];
    };
    for (Group* group : core_.groups)
        if (new_workers[group->mail.group()] != core_.self.worker)
            for (std::uint32_t i = 0; i < group->count; ++i)
                committer_.take_into_history(*group, group->lps[i]);
    separate_senders(new_workers);

    std::vector<Handover> packed(core_.plan.workers);  // by receiver
    std::vector<PendingEntry> pending;
    core_.pending.take_if(
        [&](const PendingEntry& entry) { return worker_of_lp(entry.target) != core_.self.worker; },
        pending);
    for (const PendingEntry& entry : pending) {
        const Partition::Position position = core_.plan.partition.position(entry.target);
        // The memory of a short event belongs to the worker, and stays.
        packed[new_workers[position.group]].pending.push_back(
            entry.has_record() || entry.is_bare()
                ? entry
                : make_record(core_.short_events, entry, *core_.rank.group(position.group)));
    }
    for (LpRecord* lp : committer_.take_uncommitted_if(
             [&](const LpRecord& lp) { return worker_of_lp(lp.id) != core_.self.worker; })) {
        core_.uncommitted_taken_over -= lp->history.tail() - lp->committed;
        packed[worker_of_lp(lp->id)].uncommitted.push_back(lp);
    }
    std::erase_if(core_.groups, [&](Group* group) {
        const std::uint32_t worker = new_workers[group->mail.group()];
        if (worker == core_.self.worker) return false;
        packed[worker].groups.push_back(group);
        ending_.remove(*group);
        for (std::uint32_t i = 0; i < group->count; ++i) core_.keeper.hand_over(group->lps[i]);
        return true;
    });
    core_.counters[Counter::groups_moved] += leaving_.size();
    core_.rank.progress().groups_moved.fetch_add(leaving_.size(), std::memory_order_relaxed);
    trace.mark(TraceKind::handover, leaving_.size());
    leaving_.clear();
    for (std::uint32_t worker = 0; worker < packed.size(); ++worker)
        if (!packed[worker].groups.empty()) {
            note_handoff(Handoff::group_given);
            core_.rank.hand_over(std::move(packed[worker]), worker);
        }
}

// If the sender and the target of an event get different workers, the sender can no longer reach
// the event through next_sent. Then the sender keeps an anti-message, as for an event that was sent
// to another worker.
void Handovers::separate_senders(const std::vector<std::uint32_t>& new_workers) {
    committer_.for_each_uncommitted([&](LpRecord& lp) {
        const std::uint32_t here = core_.plan.partition.position(lp.id).group;
        for (History::Ordinal p = lp.committed; p != lp.history.tail(); ++p) {
            HistoryEntry& entry = core_.entry_at(lp, p);
            if (entry.event->bound() < core_.irrevocable_before) continue;
            for (EventRecord** link = &entry.sent; *link != nullptr;) {
                EventRecord& sent = **link;
                if (new_workers[core_.plan.partition.position(sent.target).group] ==
                    new_workers[here]) {
                    link = &sent.next_sent;
                    continue;
                }
                *link = sent.next_sent;
                sent.canceled_by_identity = true;
                add_anti_message(entry, sent, core_.rank.group(here)->heap);
            }
        }
    });
}

bool Handovers::owns(std::uint32_t group) {
    if (core_.rank.owner(group) == core_.self) [[likely]]
        return true;
    take_over();
    return core_.rank.owner(group) == core_.self;
}

void Handovers::take_over() {
    core_.expect_earlier_events();
    TraceTurn trace(core_.trace);
    trace.begin();
    std::size_t taken = 0;
    for (const Handover& handover : core_.rank.take_over(core_.self.worker)) {
        note_handoff(Handoff::group_taken);
        taken += handover.groups.size();
        for (Group* group : handover.groups) {
            core_.groups.push_back(group);
            group->memory.request_migration(core_.rank.assignments().node_of(core_.self.worker));
            ending_.add(*group);
            for (std::uint32_t i = 0; i < group->count; ++i) core_.keeper.take_over(group->lps[i]);
        }
        for (const PendingEntry& entry : handover.pending) core_.pending.push(entry);
        for (const LpRecord* lp : handover.uncommitted)
            core_.uncommitted_taken_over += lp->history.tail() - lp->committed;
        committer_.add_uncommitted(handover.uncommitted);
    }
    awaited_ -= static_cast<std::int64_t>(taken);
    if (taken > 0) meter_mark<MeterMark::moved>(taken, 0);
    trace.mark(TraceKind::takeover, taken);
}

}  // namespace nw
