#include "plan/run_plan.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace nw {
namespace {

// Before the number of ranks is cut to what an owner's field holds.
const Setup& checked(const Setup& setup, std::uint32_t ranks) {
    if (ranks > Partition::ranks_max)
        throw SetupError(fmt::format("{} ranks: legal: at most {}", ranks, Partition::ranks_max));
    return setup;
}

}  // namespace

RunPlan::RunPlan(const Setup& setup_, const Config& config_, std::uint32_t ranks_,
                 std::uint32_t workers_, const SavedPartition* saved)
    : setup(checked(setup_, ranks_)),
      config(config_),
      ranks(ranks_),
      workers(workers_),
      until(config_.until.value_or(setup_.until)),
      rollback(config_.rollback.value_or(setup_.preferred_rollback)),
      rules{setup_.lps, setup_.payload_bytes_max, setup_.lookahead},
      state_keeping(
          StateKeepingRules::choose(rollback, setup_.process, config_.state_saving_interval)),
      partition(saved != nullptr ? Partition(*saved, ranks_, workers_)
                                 : Partition(setup_, ranks_, workers_, config_.lps_per_group)) {}

}  // namespace nw
