// SPDX-License-Identifier: Apache-2.0
// The facts about a completed run, from which the report and the statistics are made.
#pragma once

#include <algorithm>
#include <optional>

#include "app/options/option_table.hpp"
#include "results/statistics/run_result.hpp"

namespace nw {

struct RunFacts {
    const Model& model;
    const Settings& settings;
    const OptionTable& options;
    const RunResult& result;

    std::uint64_t count(Counter counter) const noexcept { return result.totals[counter]; }

    std::size_t workers_per_rank() const noexcept {
        return result.ranks > 0 ? result.workers.size() / result.ranks : result.workers.size();
    }

    RunShape shape() const noexcept {
        return {.rollback = result.rollback,
                .workers = result.workers.size(),
                .ranks = result.ranks,
                .commits_late = result.commits_late,
                .is_conservative = settings.config.engine == EngineKind::automatic &&
                                   result.engine == EngineKind::conservative &&
                                   result.engine_changes == 0,
                .until = result.until,
                .lps_per_group = result.lps_per_group};
    }

    // Hardware events per event that this process has committed. Hardware counts do not include
    // earlier processes of a restarted run. Empty if nothing was counted.
    std::optional<double> hardware_an_event(std::size_t counter) const {
        std::uint64_t events = 0;
        for (const WorkerReport& worker : result.workers)
            events += worker.counters[Counter::committed_events];
        const std::optional<std::uint64_t>& counted = result.hardware.counts[counter];
        if (!counted || events == 0) return std::nullopt;
        return static_cast<double>(*counted) / static_cast<double>(events);
    }

    double events_per_second() const noexcept {
        return result.wall_seconds > 0
                   ? static_cast<double>(count(Counter::committed_events)) / result.wall_seconds
                   : 0;
    }
};

// Committed events / executed events; 1 if no event was executed.
inline double efficiency_of(const Counters& counters) noexcept {
    const std::uint64_t executed = counters[Counter::executed_events];
    if (executed == 0) return 1;
    return static_cast<double>(counters[Counter::committed_events]) / static_cast<double>(executed);
}

// The efficiency of one worker: the share of its executed events that it did not undo. Committed
// events cannot be used: groups change their worker, so another worker may commit or undo the
// events that this worker has executed.
inline double worker_efficiency_of(const Counters& counters) noexcept {
    const std::uint64_t executed = counters[Counter::executed_events];
    if (executed == 0) return 1;
    const std::uint64_t undone = std::min(executed, counters[Counter::rolled_back_events]);
    return static_cast<double>(executed - undone) / static_cast<double>(executed);
}

}  // namespace nw
