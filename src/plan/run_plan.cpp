#include "plan/run_plan.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace nw {
namespace {

Rollback choose_rollback(const Setup& setup, const Config& config) {
    const Rollback method = config.rollback.value_or(setup.preferred_rollback);
    const std::string legal = std::string("; legal for this model: snapshot") +
                              (setup.process.state_bytes > 0 ? ", copy" : "") +
                              (setup.process.has_reverse ? ", reverse" : "");
    if (method == Rollback::copy && setup.process.state_bytes == 0)
        throw SetupError("--rollback copy: the model has no plain state" + legal);
    if (method == Rollback::reverse && !setup.process.has_reverse)
        throw SetupError("--rollback reverse: the model has no on_reverse()" + legal);
    return method;
}

// Before a number of workers or ranks is cut to what an owner's fields hold.
const Setup& checked(const Setup& setup, std::uint32_t ranks, std::uint32_t workers) {
    if (ranks > Partition::ranks_max)
        throw SetupError(fmt::format("{} ranks: legal: at most {}", ranks, Partition::ranks_max));
    if (workers > Partition::workers_per_rank_max)
        throw SetupError(fmt::format("--workers {}: legal: at most {} in a rank", workers,
                                     Partition::workers_per_rank_max));
    return setup;
}

}  // namespace

RunPlan::RunPlan(const Setup& setup_, const Config& config_, std::uint32_t ranks_,
                 std::uint32_t workers_, const SavedPartition* saved)
    : setup(checked(setup_, ranks_, workers_)),
      config(config_),
      ranks(ranks_),
      workers(workers_),
      until(config_.until.value_or(setup_.until)),
      rollback(choose_rollback(setup_, config_)),
      rules{setup_.lps, setup_.payload_bytes_max, setup_.lookahead},
      state_keeping(
          StateKeepingRules::choose(rollback, setup_.process, config_.state_saving_interval)),
      partition(saved != nullptr ? Partition(*saved, ranks_, workers_)
                                 : Partition(setup_, ranks_, workers_, config_.lps_per_group)) {
    if (config.check_rollback > 0 && config.engine != EngineKind::timewarp)
        throw SetupError("--check-rollback: only --engine timewarp rolls back; legal here: 0");
    if (config.engine != EngineKind::conservative) return;
    if (!(setup.lookahead > 0))
        throw SetupError(
            "--engine conservative: the model declares no lookahead; legal: sequential, timewarp");
    if (setup.process.has_end_condition)
        throw SetupError(
            "--engine conservative: the model ends by can_end(), which a window of lookahead would "
            "overrun; legal: sequential, timewarp");
}

}  // namespace nw
