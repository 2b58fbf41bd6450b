// Everything about a run that is decided before it starts and never changes: the configuration with
// its gaps filled, the partition, the rules. Shared by all workers, read-only.
#pragma once

#include <cstdint>
#include <vector>

#include <numawarp/model.hpp>

#include "lp/event_sink.hpp"
#include "lp/lp_kinds.hpp"
#include "lp/state_keeping.hpp"
#include "plan/config.hpp"
#include "plan/measure_times.hpp"
#include "plan/partition.hpp"

namespace nw {

struct RunPlan {
    // Throws SetupError where there are more ranks or groups than have numbers.
    // Requires: setup and configuration go together (options/setup_rules.hpp).
    // `saved`: the partition of the run that this one goes on from; null: from the beginning.
    RunPlan(const Setup& setup, const Config& config, std::uint32_t ranks, std::uint32_t workers,
            const SavedPartition* saved);

    // Whether LP groups may move between ranks.
    bool moves_between_ranks() const noexcept {
        return ranks > 1 && config.rebind_seconds > 0 && config.rebind_ranks &&
               config.memory == MemoryMode::numa && same_addresses && !setup.bound_to_process;
    }
    // Whoever goes on from a saved run may have it end later.
    bool keeps_events_beyond_end() const noexcept { return config.save.on(); }
    // Whether there may be some: the saved run may have had a later end.
    bool may_have_events_beyond_end() const noexcept {
        return keeps_events_beyond_end() || config.restart_from != nullptr;
    }
    // One worker does it all.
    bool is_alone() const noexcept { return ranks * workers == 1; }
    // What is committed has to wait for GVT: a worker that is not alone does not know whether others have come
    // to the end that can_end() makes.
    bool commits_late() const noexcept { return kinds.has_end_condition() && !is_alone(); }
    // A round's result is known on a rank only when what was sent to it before has come. Within a rank it always
    // has; over ranks it costs waiting, which only a lookahead is worth.
    bool knows_arrivals() const noexcept { return ranks == 1 || rules.lookahead > 0; }
    // Of all kinds of LPs at least one.
    bool some_roll_back_by(Rollback method) const noexcept;
    // Whether it must be known of each group what its LPs' constructors made.
    bool notes_constructed() const noexcept { return config.save.on() || moves_between_ranks(); }

    const Setup& setup;
    const Config& config;
    std::uint32_t ranks;
    std::uint32_t workers;  // in each rank
    VirtualTime until;
    MeasureTimes measure_times;
    LpKinds kinds;
    ScheduleRules rules;
    std::vector<StateKeepingRules> state_keeping;  // by kind; with one stride
    Partition partition;
    bool same_addresses = true;  // of a group, on every rank; known when memory is open
};

}  // namespace nw
