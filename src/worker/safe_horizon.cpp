#include "worker/safe_horizon.hpp"

#include <algorithm>
#include <cmath>

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
    if (is_on_ && is_alone_) core_.safe_before = time_infinity;
}

void SafeHorizon::on_gvt(const GvtResult& result, bool groups_move) noexcept {
    if (!is_on_ || is_alone_ || is_fixed_ || groups_move) return;
    core_.safe_before = std::max(core_.safe_before, result.gvt + core_.plan.rules.lookahead);
}

bool SafeHorizon::is_reached(const GvtResult& result) noexcept {
    if (!is_fixed_) {
        is_fixed_ = true;
        fixed_at_ = is_alone_ ? std::nextafter(core_.lead, time_infinity)
                              : result.gvt + core_.plan.rules.lookahead;
        if (!is_on_) fixed_at_ = result.gvt;
    }
    return result.gvt >= fixed_at_;
}

}  // namespace nw
