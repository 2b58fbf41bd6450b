// Groups that change their worker (rebinding). Nobody stops: the old owner finishes the commit under
// way, packs what it keeps for the group and posts it; the new owner unpacks it; mail that still
// comes to the old one is sent on. Both do so between learning the round that the plan belongs to and
// their next cut.

#include <algorithm>
#include <cstring>

#include "worker/worker.hpp"

namespace nw {

void Worker::note_moves() {
    const std::vector<GroupMove>& moves = rank_.rebinding().plan().moves;
    if (self_.worker == 0 && !moves.empty()) ++counters_[Counter::rebindings];
    for (const GroupMove& move : moves) {
        if (move.from == self_.worker) leaving_.push_back(move);
        if (move.to == self_.worker) ++awaited_;
    }
}

std::uint32_t Worker::not_ended(const Group& group) noexcept {
    return static_cast<std::uint32_t>(std::count_if(group.lps, group.lps + group.count,
                                                    [](const LpRecord& lp) { return !lp.ended; }));
}

// Requires: no commit is under way. What these groups committed below its bound has been handed to the
// output, so that their next owner need not know of it.
void Worker::hand_over() {
    TraceTurn trace(trace_);
    trace.begin();
    std::vector<std::uint32_t> worker_of(plan_.partition.groups(), self_.worker);
    for (const GroupMove& move : leaving_) worker_of[move.group] = move.to;
    give_back_put_aside(worker_of);
    const auto worker_of_lp = [&](std::uint32_t lp) {
        return worker_of[plan_.partition.place(lp).group];
    };
    part_senders(worker_of);

    std::vector<Handover> packed(plan_.workers);  // by receiver
    std::vector<PendingEntry> pending;
    pending_.take_if(
        [&](const PendingEntry& entry) { return worker_of_lp(entry.target) != self_.worker; },
        pending);
    for (const PendingEntry& entry : pending)
        packed[worker_of_lp(entry.target)].pending.push_back(entry);
    std::erase_if(uncommitted_, [&](LpRecord* lp) {
        const std::uint32_t worker = worker_of_lp(lp->id);
        if (worker == self_.worker) return false;
        uncommitted_taken_over_ -= lp->history.tail() - lp->committed;
        packed[worker].uncommitted.push_back(lp);
        return true;
    });
    std::erase_if(groups_, [&](Group* group) {
        const std::uint32_t worker = worker_of[group->mail.group()];
        if (worker == self_.worker) return false;
        packed[worker].groups.push_back(group);
        lps_not_ended_ -= not_ended(*group);
        for (std::uint32_t i = 0; i < group->count; ++i) keeper_.hand_over(group->lps[i]);
        return true;
    });
    counters_[Counter::groups_moved] += leaving_.size();
    rank_.progress().groups_moved.fetch_add(leaving_.size(), std::memory_order_relaxed);
    trace.mark(TraceKind::handover, leaving_.size());
    leaving_.clear();
    for (std::uint32_t worker = 0; worker < packed.size(); ++worker)
        if (!packed[worker].groups.empty()) rank_.hand_over(std::move(packed[worker]), worker);
}

// Sender and target of an event that part can no longer reach each other through next_sent: the
// sender keeps an anti-message to send, as if the target had always been elsewhere.
void Worker::part_senders(const std::vector<std::uint32_t>& worker_of) {
    for (LpRecord* lp : uncommitted_) {
        const std::uint32_t here = plan_.partition.place(lp->id).group;
        for (History::Ordinal p = lp->committed; p != lp->history.tail(); ++p) {
            HistoryEntry& entry = entry_at(*lp, p);
            for (EventRecord** link = &entry.sent; *link != nullptr;) {
                EventRecord& sent = **link;
                if (worker_of[plan_.partition.place(sent.target).group] == worker_of[here]) {
                    link = &sent.next_sent;
                    continue;
                }
                *link = sent.next_sent;
                sent.from_other_worker = true;
                new_anti_message(*rank_.group(here), entry, sent);
            }
        }
    }
}

void Worker::take_over() {
    TraceTurn trace(trace_);
    trace.begin();
    std::size_t taken = 0;
    for (const Handover& handover : rank_.take_over(self_.worker)) {
        taken += handover.groups.size();
        for (Group* group : handover.groups) {
            groups_.push_back(group);
            group->memory.move_sobj(rank_.node_of_worker(self_.worker));
            lps_not_ended_ += not_ended(*group);
            for (std::uint32_t i = 0; i < group->count; ++i) keeper_.take_over(group->lps[i]);
        }
        for (const PendingEntry& entry : handover.pending) pending_.push(entry);
        for (const LpRecord* lp : handover.uncommitted)
            uncommitted_taken_over_ += lp->history.tail() - lp->committed;
        uncommitted_.insert(uncommitted_.end(), handover.uncommitted.begin(),
                            handover.uncommitted.end());
    }
    awaited_ -= static_cast<std::int64_t>(taken);
    trace.mark(TraceKind::takeover, taken);
}

}  // namespace nw
