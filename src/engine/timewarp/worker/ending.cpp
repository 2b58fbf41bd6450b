// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/ending.hpp"

#include <algorithm>
#include <utility>

#include "engine/timewarp/worker/committer.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "results/statistics/run_result.hpp"

namespace nw {
namespace {

// The sequence may wrap to 0.
EventKey just_after(EventKey key) noexcept {
    if (++key.sequence == 0) ++key.sender;
    return key;
}

}  // namespace

Ending::Ending(WorkerCore& core)
    : core_(core),
      has_end_(core.plan.kinds.has_end_condition() && core.plan.is_alone()),
      reason_(EndReason::until) {}

bool Ending::splits_time() const noexcept {
    return reason_ == EndReason::interrupted && final_bound_.generation > 0;
}

void Ending::end_interrupted(VirtualTime at) noexcept {
    end(EndReason::interrupted, at, start_of(at));
}

void Ending::contribute(Contribution& sums) const noexcept {
    sums.not_ended = lps_not_ended_;
    sums.end_key = last_key_;
    sums.sent_beyond_end = sent_beyond_end_;
}

void Ending::add(const Group& group) noexcept { lps_not_ended_ += not_ended(group); }
void Ending::remove(const Group& group) noexcept { lps_not_ended_ -= not_ended(group); }

bool Ending::on_gvt(const GvtResult& result, const Committer& committer,
                    std::optional<EventBound> stop_bound) {
    const VirtualTime until = core_.plan.until;
    EventKey bound = start_of(core_.gvt);
    if (core_.plan.kinds.has_end_condition()) {
        evaluate_all(committer, start_of(core_.gvt));
        const VirtualTime previous = std::exchange(previous_gvt_, core_.gvt);
        if (is_known()) return end_at(last_key_);
        if (!has_end_) {
            bound = start_of(previous);
            if (on_gvt_while_pausing(result)) return true;
        }
    }
    if (bound.time >= until) {
        const bool ran_dry = result.sums.sent_beyond_end == 0;
        return end(ran_dry ? EndReason::no_events : EndReason::until, until,
                   start_of(time_infinity));
    }
    if (stop_bound && result.sums.stop != 0 && !core_.plan.config.save.on()) {
        if (!core_.plan.commits_late()) bound = start_of(*stop_bound);
        return end(EndReason::interrupted, bound.time, bound);
    }
    final_bound_ = bound;
    return false;
}

bool Ending::on_gvt_while_pausing(const GvtResult& result) {
    if (!core_.plan.kinds.has_end_condition() || result.sums.not_ended != 0) return false;
    return end_at(result.sums.end_key);
}

bool Ending::end_at(const EventKey& last) noexcept {
    return end(EndReason::all_can_end, std::max(0.0, last.time), just_after(last));
}

bool Ending::end(EndReason reason, VirtualTime time, const EventKey& bound) noexcept {
    reason_ = reason;
    time_ = time;
    final_bound_ = bound;
    return true;
}

void Ending::look_at_pause(const Committer& committer, const EventKey& bound) {
    evaluate_all(committer, bound);
    previous_gvt_ = bound.time;
}

void Ending::evaluate_all(const Committer& committer, const EventKey& bound) {
    committer.for_each_uncommitted([&](LpRecord& lp) { evaluate(lp, bound); });
}

// Searches for the first event after which the LP lets the run end.
void Ending::evaluate(LpRecord& lp, const EventKey& bound) {
    if (!lp.may_have_ended || lp.ended) return;
    for (History::Ordinal p = lp.committed; p != lp.history.tail(); ++p) {
        const EventRecord& event = *core_.entry_at(lp, p).event;
        if (!before(event.key(), bound)) return;
        if (event.lets_end) return note_end(lp, event.key());
    }
    lp.may_have_ended = false;
}

void Ending::note_end(LpRecord& lp, const EventKey& key) noexcept {
    lp.ended = true;
    --lps_not_ended_;
    if (before(last_key_, key)) last_key_ = key;
}

}  // namespace nw
