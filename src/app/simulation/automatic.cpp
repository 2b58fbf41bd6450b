// SPDX-License-Identifier: Apache-2.0
#include "app/simulation/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/engine_run.hpp"
#include "engine/inorder/conservative.hpp"
#include "engine/timewarp/timewarp.hpp"
#include "plan/engine_trial.hpp"

namespace nw {
namespace {

// Whether a window of the lookahead's size contains fewer than eight floating-point numbers at this
// virtual time.
bool is_lost_in_rounding(VirtualTime lookahead, VirtualTime at) noexcept {
    return at < time_infinity && std::nextafter(at, time_infinity) - at > lookahead / 8;
}

// Returns why the conservative engine cannot execute the run, or an empty text. Ranks may have
// different values of an option, for example of --trace. Collective over the ranks.
std::string needs_timewarp(const RunPlan& plan, RankGroup& ranks) {
    for (const std::string& reason : ranks.share(plan.config.needs_timewarp))
        if (!reason.empty()) return reason;
    if (!(plan.rules.lookahead > 0)) return "the model declares no lookahead";
    if (!plan.is_alone() && is_lost_in_rounding(plan.rules.lookahead, plan.until))
        return "the lookahead is lost in rounding near the end time";
    if (plan.kinds.has_end_condition()) return "the model ends by can_end()";
    if (plan.setup.on_gvt) return "the model observes GVT";
    return {};
}

// Removes repeated notices: each engine that has executed a part of the run reports the same
// obstacles.
void drop_repeated(std::vector<std::string>& notices) {
    std::vector<std::string> once;
    for (std::string& notice : notices)
        if (std::find(once.begin(), once.end(), notice) == once.end())
            once.push_back(std::move(notice));
    notices = std::move(once);
}

}  // namespace

void run_automatic(EngineRun& run) {
    RunResult& result = run.result;
    result.engine = EngineKind::timewarp;
    result.engine_reason = needs_timewarp(run.plan, run.ranks);
    if (!result.engine_reason.empty()) {
        run_timewarp(run);
        return;
    }
    EngineTrial trial(run.plan.config.trial, run.plan.ranks * run.plan.workers);
    run.trial = &trial;
    result.engine = EngineKind::conservative;
    for (;;) {
        const bool is_conservative = result.engine == EngineKind::conservative;
        if (is_conservative)
            run_conservative(run);
        else
            run_timewarp(run);
        if (run.paused == nullptr) break;
        result.engine = is_conservative ? EngineKind::timewarp : EngineKind::conservative;
        ++result.engine_changes;
        trial.begin();
    }
    result.engine_reason = trial.reason();
    drop_repeated(result.notices);
}

}  // namespace nw
