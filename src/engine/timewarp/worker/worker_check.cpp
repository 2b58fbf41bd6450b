// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/worker_check.hpp"

#include <algorithm>

#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/ending.hpp"
#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/sends.hpp"
#include "engine/timewarp/worker/standstill.hpp"
#include "engine/timewarp/worker/throttle.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "event/short_events.hpp"
#include "lp/validate.hpp"
#include "memory/handler/heap_scope.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

template <class T>
std::vector<T*> sorted(std::vector<T*> pointers) {
    std::sort(pointers.begin(), pointers.end());
    return pointers;
}

template <class T>
bool has_twins(const std::vector<T*>& sorted_pointers) {
    return std::adjacent_find(sorted_pointers.begin(), sorted_pointers.end()) !=
           sorted_pointers.end();
}

}  // namespace

void WorkerCheck::after_turn() const {
    if (core_.rank.failed() || core_.rank.model_failed())
        return;  // a failure leaves data incomplete
    between_turns();
    if (core_.walked_at_round == core_.epochs.seen() || !core_.walks.is_due()) return;
    core_.walked_at_round = core_.epochs.seen();
    core_.walks.walked(everything());
}

// Checks data that is empty between turns, and related counts.
void WorkerCheck::between_turns() const {
    NW_CHECK(!rollbacks_.is_canceling());
    sends_.validate();
    committer_.validate();
    throttle_.validate();
    NW_CHECK(!(standstill_.nothing_in_flight() && committer_.is_done()) ||
             standstill_.is_at_rest());
    core_.epochs.validate();
}

std::uint64_t WorkerCheck::everything() const {
    const PlatformScope platform;
    between_turns();
    lists();
    uncommitted();
    pending();
    sends_.outboxes().validate();
    core_.log.validate();
    return all_groups() + core_.pending.size();
}

// Each group that this worker owns is in core_.groups exactly once.
void WorkerCheck::lists() const {
    const std::vector<Group*> groups = sorted(core_.groups);
    NW_CHECK(!has_twins(groups));
    std::size_t owned = 0;
    for (std::uint32_t g = 0; g < core_.plan.partition.groups(); ++g)
        owned += core_.rank.owner(g) == core_.self ? 1 : 0;
    NW_CHECK(owned == core_.groups.size());
    std::uint64_t not_ended_lps = 0;
    for (const Group* group : core_.groups) {
        NW_CHECK(core_.rank.owner(group->mail.group()) == core_.self);
        NW_CHECK(core_.rank.group(group->mail.group()) == group);
        not_ended_lps += not_ended(*group);
    }
    NW_CHECK(ending_.lps_not_ended() == not_ended_lps);
    core_.rank.ready_list(core_.self.worker).validate(core_.plan.partition.groups());
}

// An LP that is marked as uncommitted is on one of the committer's two lists, exactly once. No
// other LP is on a list. The counters agree with the lists.
void WorkerCheck::uncommitted() const {
    std::vector<LpRecord*> listed;
    committer_.for_each_uncommitted([&](LpRecord& lp) { listed.push_back(&lp); });
    listed = sorted(std::move(listed));
    NW_CHECK(!has_twins(listed));
    std::size_t marked = 0;
    for (const Group* group : core_.groups)
        for (std::uint32_t i = 0; i < group->count; ++i)
            marked += group->lps[i].has_uncommitted ? 1 : 0;
    NW_CHECK(marked == listed.size());
    std::uint64_t events = core_.log.size();
    std::size_t deferred = 0;
    for (const LpRecord* lp : listed) {
        NW_CHECK(lp->has_uncommitted);
        NW_CHECK(core_.rank.owner(core_.plan.partition.position(lp->id).group) == core_.self);
        events += lp->history.tail() - lp->committed;
        for (History::Ordinal p = lp->committed; p != lp->history.tail(); ++p)
            deferred += lp->history.at(p, core_.stride).event->deferred ? 1 : 0;
    }
    NW_CHECK(events == core_.events_uncommitted());
    rollbacks_.deferrals().validate(deferred);
}

std::uint64_t WorkerCheck::all_groups() const {
    std::uint64_t things = 0;
    std::uint64_t saved_bytes = 0;
    for (const Group* group : core_.groups) {
        things += one_group(*group);
        for (std::uint32_t i = 0; i < group->count; ++i)
            saved_bytes += StateKeeper::bytes_held(group->lps[i]);
    }
    NW_CHECK(saved_bytes == core_.keeper.bytes());
    return things;
}

std::uint64_t WorkerCheck::one_group(const Group& group) const {
    const std::uint32_t g = group.mail.group();
    std::uint64_t things = 64;
    std::uint64_t unmatched_anti_messages = 0;
    const LpExpectations known = core_.expectations(rollbacks_.is_canceling());
    for (std::uint32_t i = 0; i < group.count; ++i) {
        const LpRecord& lp = group.lps[i];
        const Partition::Position position = core_.plan.partition.position(lp.id);
        NW_CHECK(position.group == g);
        NW_CHECK(position.index == i);
        unmatched_anti_messages += lp.unmatched_anti_messages;
        things += validate_whole(lp, known);
    }
    NW_CHECK(unmatched_anti_messages == group.unmatched_anti_messages.size());
    group.memory.validate();
    core_.rank.group(g)->mail.validate();
    return things + group.heap.free_bytes() / 256;
}

// Each entry agrees with its event, is for an LP of this worker, and is not below GVT.
void WorkerCheck::pending() const {
    NW_CHECK(core_.pending.validate());
    core_.pending.for_each([this](const PendingEntry& entry) {
        if (entry.has_record()) {
            const EventRecord& event = *entry.record();
            NW_CHECK(entry.key() == event.key());
            NW_CHECK(entry.target == event.target);
            NW_CHECK(event.status == EventStatus::pending || event.status == EventStatus::canceled);
            NW_CHECK(!event.failed);
            NW_CHECK(!event.deferred);
            NW_CHECK(event.payload_bytes <= core_.plan.rules.payload_bytes_max);
        } else {
            NW_CHECK(header_of(entry).payload_bytes <= core_.plan.rules.payload_bytes_max);
            NW_CHECK(entry.is_bare() == (header_of(entry).payload_bytes == 0));
        }
        NW_CHECK(entry.time >= core_.gvt);
        NW_CHECK(entry.time < core_.plan.until || core_.plan.may_have_events_beyond_end());
        NW_CHECK(core_.rank.owner(core_.plan.partition.position(entry.target).group) == core_.self);
    });
}

}  // namespace nw
