#include "worker/safe_horizon.hpp"

#include <algorithm>

#include "gvt/gvt_rounds.hpp"
#include "plan/run_plan.hpp"

namespace nw {
namespace {

// What is committed late has to wait for GVT. And where rollbacks are tried, coasting forward is tried, too.
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
    if (!core_.plan.knows_arrivals()) return lookahead_on;
    return std::max(lookahead_on, just_after(result.bound()));
}

void SafeHorizon::on_gvt(const GvtResult& result, bool groups_move) noexcept {
    if (!is_on_ || is_alone_ || is_fixed_ || groups_move) return;
    core_.safe_before = std::max(core_.safe_before, beyond(result));
}

bool SafeHorizon::is_reached(const GvtResult& result) noexcept {
    const EventBound gvt = result.bound();
    if (!is_fixed_) {
        is_fixed_ = true;
        fixed_at_ = is_alone_ ? just_after(core_.lead) : beyond(result);
        if (!is_on_) fixed_at_ = gvt;
        core_.safe_before = std::min(core_.safe_before, fixed_at_);
    }
    return !(gvt < fixed_at_);
}

void SafeHorizon::resume() noexcept {
    is_fixed_ = false;
    if (is_on_ && is_alone_) core_.safe_before = time_infinity;
}

}  // namespace nw
