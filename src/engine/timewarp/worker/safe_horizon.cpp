// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/safe_horizon.hpp"

#include <algorithm>

#include "engine/saved_worker.hpp"
#include "gvt/gvt_rounds.hpp"
#include "plan/run_plan.hpp"

namespace nw {
namespace {

// Irrevocable execution commits an event immediately. This is not possible if commits must wait for
// GVT. With --check-rollback no event is executed irrevocably, so that coasting forward is tested,
// too.
bool may_commit_at_once(const RunPlan& plan) noexcept {
    return !plan.config.keep_safe_events && plan.config.check_rollback == 0 && !plan.commits_late();
}

}  // namespace

SafeHorizon::SafeHorizon(WorkerCore& core)
    : core_(core), is_on_(may_commit_at_once(core.plan)), is_alone_(core.plan.is_alone()) {
    resume();
}

EventBound SafeHorizon::beyond(const GvtResult& result) const noexcept {
    const EventBound lookahead_on = result.gvt + core_.plan.rules.lookahead;
    if (!core_.plan.bounds_arrivals()) return lookahead_on;
    return std::max(lookahead_on, just_after(result.bound()));
}

// Groups change their worker with round e. A sender that has not read the result of round e still
// reads the old owner of a group. The sender may send mail to the old owner after the old owner has
// read its mail for its cut e+1. Then the mail is passed on after round e+1, although it was sent
// before the sender's cut e+1. All senders have read the result of round e before their cut e+1, so
// mail that they send after this cut goes to the new owner.
void SafeHorizon::on_gvt(const GvtResult& result, bool groups_move) noexcept {
    if (!is_on_ || is_alone_) return;
    if (groups_move) rounds_held_ = 3;
    if (rounds_held_ > 0) {
        --rounds_held_;
        return;
    }
    if (stage_ != Stage::running) return;
    core_.safe_before = std::max(core_.safe_before, beyond(result));
    core_.safe_before_most = core_.safe_before;
}

bool SafeHorizon::try_stop(const GvtResult& result) noexcept {
    if (result.gvt > stalled_gvt_) {
        stalled_gvt_ = result.gvt;
        stalled_since_ = core_.now;
    }
    switch (stage_) {
        case Stage::running:
            stage_ = Stage::lowered;
            stalled_since_ = core_.now;
            core_.safe_before =
                std::min(core_.safe_before, just_after(std::max(core_.lead, core_.farthest)));
            return false;
        case Stage::lowered:
            stage_ = Stage::agreed;
            agreed_before_ = result.sums.irrevocable_end;
            core_.safe_before = std::min(core_.safe_before_most, agreed_before_);
            break;
        case Stage::agreed:
            break;
    }
    if (result.sums.splits_time != 0) return !(result.bound() < agreed_before_);
    const bool is_whole = agreed_before_.generation == 0;
    return is_whole ? result.gvt >= agreed_before_.time : result.gvt > agreed_before_.time;
}

EventBound SafeHorizon::stop_bound(const GvtResult& result) const noexcept {
    const EventBound whole(result.gvt);
    return whole < agreed_before_ ? result.bound() : whole;
}

void SafeHorizon::contribute(Contribution& sums) const noexcept {
    sums.irrevocable_end = stage_ == Stage::running ? EventBound{0} : core_.safe_before;
    const bool splits_time = stage_ == Stage::agreed && core_.now - stalled_since_ > stop_patience;
    sums.splits_time = splits_time ? 1 : 0;
}

void SafeHorizon::resume() noexcept {
    stage_ = Stage::running;
    if (is_on_ && is_alone_) core_.safe_before = core_.safe_before_most = time_infinity;
}

}  // namespace nw
