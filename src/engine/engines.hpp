// The three engines behind one signature. Each runs the events, fills in what it knows of the
// result, and calls on_end; Simulation does what they have in common.
#pragma once

#include <atomic>
#include <functional>

#include "engine/worker_threads.hpp"
#include "lp/group.hpp"
#include "net/rank_group.hpp"
#include "numa/region/memory_source.hpp"
#include "output/csv_tables.hpp"
#include "output/output_writer.hpp"
#include "plan/run_plan.hpp"
#include "stats/live_progress.hpp"
#include "stats/run_result.hpp"

namespace nw {

// Brings all rows that were handed over into the tables, and these to the disk; the first rank learns how
// far they reach. Rows that come later must belong behind them. Collective over the ranks, by one
// thread of each while no worker runs.
using SyncOutput = std::function<OutputPosition()>;

struct EngineRun {
    Model& model;
    const RunPlan& plan;
    MemorySource& memory;
    OutputWriter& output;
    RankGroup& ranks;
    WorkerPlaces places;
    LiveProgress& progress;
    const std::atomic<int>& stop_signal;
    RunResult& result;
    SyncOutput sync_output;
    std::function<void()> begin_output;  // from now on nothing is refused any more
};

void run_sequential(EngineRun& run);
void run_conservative(EngineRun& run);
void run_timewarp(EngineRun& run);

// For LiveProgress::Unstoppable.
inline constexpr const char* in_on_end =
    "in on_end(); the rows of all events are in their tables, but no results were written";

// What a worker did, for the report.
struct WorkerTally {
    Counters counters;
    WorkerFigures figures;
    double busy_seconds = 0;
    double asleep_seconds = 0;
    HardwareCounts hardware;
    const std::vector<Group*>* groups = nullptr;
};
// The digest of the LPs of these groups, and what they hold. Requires: they are not destroyed yet.
void report_lps(RunResult& result, const std::vector<Group*>& groups);
void report_worker(RunResult& result, const WorkerPlaces& where, std::uint32_t worker,
                   const WorkerTally& tally);

}  // namespace nw
