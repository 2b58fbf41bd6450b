// SPDX-License-Identifier: Apache-2.0
// The parameter of the three engines: run_sequential(), run_conservative() and run_timewarp(). Each
// engine executes the events, calls on_end(), and fills in its part of the result. Simulation does
// the work that is common to all engines.
#pragma once

#include <atomic>
#include <functional>

#include "engine/checkpoint/paused_run.hpp"
#include "engine/worker_threads.hpp"
#include "lp/group.hpp"
#include "memory/region/memory_source.hpp"
#include "net/rank_group.hpp"
#include "plan/run_plan.hpp"
#include "results/output/csv_tables.hpp"
#include "results/output/output_writer.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/run_result.hpp"
#include "results/statistics/worker_tally.hpp"

namespace nw {

class EngineTrial;

// Writes all rows that were handed over, first into the tables and then to the disk. On the first
// rank, returns the end of the tables. Rows that are handed over later must sort after these rows.
// Collective over the ranks: one thread of each rank calls it while no worker runs.
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
    // RunOutput::begin(). Called on a restart, when no rank can refuse the run any more.
    std::function<void()> begin_output;
    // Decides whether another engine continues the run. Null: no other engine continues the run.
    EngineTrial* trial = nullptr;
    // Before an engine begins: the run that it continues; null: the run begins or restarts. After
    // an engine has stopped: the run that another engine is to continue; null: the run is over.
    std::unique_ptr<PausedRun> paused{};
};

// The name of the phase for LiveProgress::Unstoppable.
inline constexpr const char* in_on_end =
    "in on_end(); the rows of all events are in their tables, but no results were written";

// Adds the digest of the groups' LPs and the size of their states to the result. Requires: the LPs
// are not destroyed yet.
void report_lps(RunResult& result, const std::vector<Group*>& groups);
// Element r: the number of events and anti-messages that this rank has sent to rank r.
std::vector<std::uint64_t>& sent_by_rank(RunResult& result, std::uint32_t ranks);
void report_worker(RunResult& result, const WorkerPlaces& where, std::uint32_t worker,
                   const WorkerTally& tally);

}  // namespace nw
