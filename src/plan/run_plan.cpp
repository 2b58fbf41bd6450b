// SPDX-License-Identifier: Apache-2.0
#include "plan/run_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "util/check.hpp"

namespace nw {
namespace {

// Checks the number of ranks, before ranks are stored in the 16 bits of Partition::Owner::rank.
const Setup& checked(const Setup& setup, std::uint32_t ranks) {
    if (ranks > Partition::ranks_max)
        throw SetupError(fmt::format("{} ranks; allowed: at most {}", ranks, Partition::ranks_max));
    return setup;
}

// The entries of all histories have the size that the kind with the largest entries needs. So a
// position in a history is found without reading the LP's kind.
std::vector<StateKeepingRules> state_keeping_of(const LpKinds& kinds, const Config& config) {
    std::vector<StateKeepingRules> all;
    std::uint32_t stride = 0;
    for (const Kind& kind : kinds.kinds().all()) {
        const Rollback preferred =
            kind.preferred_rollback.value_or(rollback_methods().front()->value);
        all.push_back(method_of(config.rollback.value_or(preferred))
                          .rules(kind.process, config.state_saving_interval));
        stride = std::max(stride, all.back().entry_stride);
    }
    for (StateKeepingRules& rules : all) rules.entry_stride = stride;
    return all;
}

}  // namespace

RunPlan::RunPlan(const Setup& setup_, const Config& config_, std::uint32_t ranks_,
                 std::uint32_t workers_, const SavedPartition* saved,
                 const std::vector<double>& worker_shares)
    : setup(checked(setup_, ranks_)),
      config(config_),
      ranks(ranks_),
      workers(workers_),
      until(config_.until.value_or(setup_.until)),
      measure_times{config_.warm_up, config_.measure_interval},
      kinds(Kinds::of(setup_)),
      rules{setup_.lps, std::max(setup_.payload_bytes_max, kinds.event_bytes_max()),
            setup_.lookahead, &kinds},
      state_keeping(state_keeping_of(kinds, config_)),
      partition(saved != nullptr
                    ? Partition(setup_, *saved, ranks_, workers_, worker_shares)
                    : Partition(setup_, ranks_, workers_, config_.lps_per_group, worker_shares)) {}

bool RunPlan::restores_after_failures() const noexcept {
    return std::ranges::all_of(state_keeping, [](const StateKeepingRules& kind) {
        return kind.method->restores_after_failure;
    });
}

}  // namespace nw
