// SPDX-License-Identifier: Apache-2.0
// Everything about a run that is decided before the run starts and never changes: the completed
// configuration, the partition, the rules. All workers share the plan, which is read-only.
#pragma once

#include <cstdint>
#include <vector>

#include <numawarp/model.hpp>

#include "api/event_sink.hpp"
#include "api/lp_kinds.hpp"
#include "lp/state_keeping.hpp"
#include "plan/config.hpp"
#include "plan/measure_times.hpp"
#include "plan/partition.hpp"

namespace nw {

struct RunPlan {
    // Throws SetupError if there are too many ranks or groups for the types of their numbers.
    // Requires: setup and configuration are consistent (app/options/setup_rules.hpp). `saved`: the
    // partition of the saved run that this run continues; null: the run begins anew.
    RunPlan(const Setup& setup, const Config& config, std::uint32_t ranks, std::uint32_t workers,
            const SavedPartition* saved, const std::vector<double>& worker_shares = {});

    // Whether groups may move between ranks.
    bool moves_between_ranks() const noexcept {
        return ranks > 1 && config.rebind_seconds > 0 && config.rebind_ranks &&
               config.memory == MemoryMode::numa && same_addresses && !setup.bound_to_process;
    }
    // Events beyond the end are kept for a restart, which may have a later end.
    bool keeps_events_beyond_end() const noexcept { return config.save.on(); }
    // Whether events beyond the end may exist: the saved run may have had a later end.
    bool may_have_events_beyond_end() const noexcept {
        return keeps_events_beyond_end() || config.restart_from != nullptr;
    }
    // Whether one worker executes the whole run.
    bool is_alone() const noexcept { return ranks * workers == 1; }
    // Whether commit waits for a further GVT round. If there are several workers, one worker cannot
    // determine whether can_end() has ended the run.
    bool commits_late() const noexcept { return kinds.has_end_condition() && !is_alone(); }
    // Whether a rank publishes the result of a round only when all messages that were sent to the
    // rank before the cuts have arrived. Messages within a rank have always arrived at that point.
    // The result must wait for messages between ranks, and this is worthwhile only with a
    // lookahead.
    bool bounds_arrivals() const noexcept { return ranks == 1 || rules.lookahead > 0; }
    // Whether the state of each LP can be restored after its handler has failed.
    bool restores_after_failures() const noexcept;
    // Whether each group must record the pointers to outside memory that the constructors of its
    // LPs have stored.
    bool notes_constructed() const noexcept { return config.save.on() || moves_between_ranks(); }

    const Setup& setup;
    const Config& config;
    std::uint32_t ranks;
    std::uint32_t workers;  // in each rank
    VirtualTime until;
    MeasureTimes measure_times;
    LpKinds kinds;
    ScheduleRules rules;
    std::vector<StateKeepingRules> state_keeping;  // by kind; all have the same stride
    Partition partition;
    // Whether each group has the same addresses on every rank; set when the memory is open.
    bool same_addresses = true;
};

}  // namespace nw
