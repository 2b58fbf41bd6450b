// What must hold of a worker between two turns, and of an LP after each change: see base/paranoid.hpp
// for when this is looked at.

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "numa/handler/heap_scope.hpp"
#include "worker/worker.hpp"

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

LpFacts Worker::facts() const noexcept {
    return {.keeping = keeper_.rules(),
            .payload_bytes_max = static_cast<std::uint32_t>(plan_.rules.payload_bytes_max),
            .has_end_condition = plan_.setup.process.has_end_condition,
            .gvt = gvt_,
            .final_before = commit_bound_,
            .is_cancelling = !to_cancel_.empty()};
}

// The words of a check that fails say which LP it was.
void Worker::check_change(const LpRecord& lp) {
    const PlatformScope platform;
    ErrorContext& here = error_context();
    here.lp = lp.id;
    here.time = lp.last_key.time;
    if (walks_.count_change())
        validate_whole(lp, facts());
    else
        validate_newest(lp, facts());
    here.lp = -1;
    here.time = 0;
}

void Worker::check_turn() {
    if (rank_.failed()) return;  // whoever fails leaves things as they are
    validate_between_turns();
    if (walked_at_round_ == epochs_.seen() || !walks_.is_due()) return;
    walked_at_round_ = epochs_.seen();
    walks_.walked(validate());
}

void Worker::validate_between_turns() const {
    NW_CHECK(to_cancel_.empty());
    NW_CHECK(staged_.empty());
    NW_CHECK(!commit_done_ || committing_.empty());
    NW_CHECK(horizon_ <= plan_.until);
    NW_CHECK(!(nothing_in_flight_ && commit_done_) || phase_ == Phase::paused ||
             phase_ == Phase::finished);
    epochs_.validate();
}

std::uint64_t Worker::validate() const {
    const PlatformScope platform;
    validate_between_turns();
    validate_lists();
    validate_uncommitted();
    validate_pending();
    validate_outboxes();
    return validate_groups() + pending_.size();
}

// The groups are those that are this worker's, each once, and its mail comes here.
void Worker::validate_lists() const {
    const std::vector<Group*> groups = sorted(groups_);
    NW_CHECK(!has_twins(groups));
    std::size_t owned = 0;
    for (std::uint32_t g = 0; g < plan_.partition.groups(); ++g)
        owned += rank_.owner(g) == self_ ? 1 : 0;
    NW_CHECK(owned == groups_.size());
    std::uint64_t not_ended_lps = 0;
    for (const Group* group : groups_) {
        NW_CHECK(rank_.owner(group->mail.group()) == self_);
        NW_CHECK(rank_.group(group->mail.group()) == group);
        not_ended_lps += not_ended(*group);
    }
    NW_CHECK(lps_not_ended_ == not_ended_lps);
    rank_.ready_list(self_.worker).validate(plan_.partition.groups());
}

// An LP is on one of the two lists, once, if and only if it says so; and what is on them is what the
// counters say.
void Worker::validate_uncommitted() const {
    std::vector<LpRecord*> listed = uncommitted_;
    listed.insert(listed.end(), committing_.begin(), committing_.end());
    listed = sorted(std::move(listed));
    NW_CHECK(!has_twins(listed));
    std::size_t marked = 0;
    for (const Group* group : groups_)
        for (std::uint32_t i = 0; i < group->count; ++i)
            marked += group->lps[i].has_uncommitted ? 1 : 0;
    NW_CHECK(marked == listed.size());
    std::uint64_t events = 0;
    std::size_t put_aside = 0;
    for (const LpRecord* lp : listed) {
        NW_CHECK(lp->has_uncommitted);
        NW_CHECK(rank_.owner(plan_.partition.place(lp->id).group) == self_);
        events += lp->history.tail() - lp->committed;
        for (History::Ordinal p = lp->committed; p != lp->history.tail(); ++p)
            put_aside += lp->history.at(p, stride_).event->put_aside ? 1 : 0;
    }
    NW_CHECK(events == events_uncommitted());
    NW_CHECK(put_aside == put_aside_.size());
    NW_CHECK(!has_twins(sorted(put_aside_)));
    for (const EventRecord* event : put_aside_) NW_CHECK(event->put_aside && event->failed);
}

std::uint64_t Worker::validate_groups() const {
    std::uint64_t things = 0;
    std::uint64_t saved_bytes = 0;
    for (const Group* group : groups_) {
        things += validate_group(*group);
        for (std::uint32_t i = 0; i < group->count; ++i)
            saved_bytes += StateKeeper::bytes_held(group->lps[i]);
    }
    NW_CHECK(saved_bytes == keeper_.bytes());
    return things;
}

std::uint64_t Worker::validate_group(const Group& group) const {
    const std::uint32_t g = group.mail.group();
    std::uint64_t things = 64;
    std::uint64_t unmatched_anti_messages = 0;
    const LpFacts known = facts();
    for (std::uint32_t i = 0; i < group.count; ++i) {
        const LpRecord& lp = group.lps[i];
        const Partition::Place place = plan_.partition.place(lp.id);
        NW_CHECK(place.group == g);
        NW_CHECK(place.index == i);
        unmatched_anti_messages += lp.unmatched_anti_messages;
        things += validate_whole(lp, known);
    }
    NW_CHECK(unmatched_anti_messages == group.unmatched_anti_messages.size());
    group.memory.validate();
    rank_.group(g)->mail.validate();
    return things + group.heap.free_bytes() / 256;
}

// Each entry says what its event says, is for one of this worker's LPs, and is not below GVT.
void Worker::validate_pending() const {
    NW_CHECK(pending_.validate());
    pending_.for_each([this](const PendingEntry& entry) {
        const EventRecord& event = *entry.event;
        NW_CHECK(entry.key() == event.key());
        NW_CHECK(entry.target == event.target);
        NW_CHECK(event.status == EventStatus::pending || event.status == EventStatus::cancelled);
        NW_CHECK(!event.failed);
        NW_CHECK(!event.put_aside);
        NW_CHECK(event.payload_bytes <= plan_.rules.payload_bytes_max);
        NW_CHECK(entry.time >= gvt_);
        NW_CHECK(entry.time < plan_.until);
        NW_CHECK(rank_.owner(plan_.partition.place(entry.target).group) == self_);
    });
}

// What waits there belongs to the epoch that is open: the next cut sends it off.
void Worker::validate_outboxes() const {
    const auto check = [this](const MailBuffer& mail) {
        std::size_t bytes = 0;
        for_each_wire_event(mail.data(), mail.size(), [&](const WireEvent& wire) {
            bytes += wire.bytes();
            NW_CHECK(wire.kind == WireKind::event || wire.kind == WireKind::anti_message);
            NW_CHECK(wire.epoch == epochs_.epoch());
            NW_CHECK(wire.time >= gvt_);
            NW_CHECK(wire.target < plan_.rules.lps);
        });
        NW_CHECK(bytes == mail.size());
    };
    for (const MailBuffer& mail : worker_outboxes_) check(mail);
    for (const RankOutbox& outbox : rank_outboxes_) check(outbox.mail);
}

}  // namespace nw
