// SPDX-License-Identifier: Apache-2.0
// The work of one worker in the whole run, for the report.
#pragma once

#include <vector>

#include "results/statistics/hardware_figures.hpp"
#include "results/statistics/worker_figures.hpp"
#include "util/counters.hpp"

namespace nw {

struct Group;

struct WorkerTally {
    Counters counters;
    WorkerFigures figures;
    double busy_seconds = 0;
    double asleep_seconds = 0;
    HardwareCounts hardware;
    const std::vector<Group*>* groups = nullptr;

    // Adds the times and hardware counts that the worker has from an earlier engine of the run.
    // (The worker itself continues its counters and figures.)
    void add_times(const WorkerTally& earlier) {
        busy_seconds += earlier.busy_seconds;
        asleep_seconds += earlier.asleep_seconds;
        hardware += earlier.hardware;
    }
};

}  // namespace nw
