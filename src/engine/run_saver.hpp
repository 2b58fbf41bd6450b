// SPDX-License-Identifier: Apache-2.0
// Saves a whole run on all ranks while every worker is paused. The engine is responsible for the
// pause. Each worker writes its groups to its own file. Then the first rank makes the checkpoint
// valid (saved_run_folder.hpp). If a file cannot be written, the previous checkpoint remains valid,
// and the run continues.
//
// Thread: all workers call save() at the same time and wait for each other in it.
#pragma once

#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/saved_group.hpp"
#include "engine/checkpoint/saved_run_folder.hpp"
#include "engine/engine_run.hpp"
#include "engine/saved_worker.hpp"
#include "results/statistics/run_history.hpp"
#include "results/statistics/stopwatch.hpp"

namespace nw {

// Begins the event loop's history and progress line, and returns a stopwatch that began with the
// event loop. On a restart, history and progress line continue from the saved run. If another
// engine has executed the run so far, the history and the stopwatch of that engine are continued.
// Thread: worker 0.
Stopwatch begin_progress(EngineRun& run, RunHistory& history);

// On a restart, cuts the tables to the position of the checkpoint. First it waits for all ranks, so
// that no rank can refuse the restart any more. Collective over the ranks: one thread of each rank
// calls it.
void begin_output(EngineRun& run);

class RunSaver {
  public:
    // `workers` are the workers of this rank. `barrier` is shared by all of them.
    RunSaver(EngineRun& run, SavedRank& rank, std::vector<SavedWorker*> workers,
             std::barrier<>& barrier);

    // `loop`: a stopwatch that began with the event loop of the run's first engine. Thread: worker
    // 0, right before the engine's first event.
    void begin(const Stopwatch& loop);

    // Thread: each worker, when all workers are paused. Ensures: the workers continue, or they have
    // ended if a signal was the reason for the save. If a file cannot be written, the rank fails
    // only if a signal was the reason. After any other error, the rank always fails.
    void save(std::uint32_t worker);

  private:
    void open();
    void write_trace();
    void write_part(std::uint32_t worker);
    void close();
    void complete(std::vector<SavedPart> parts, std::vector<SavedTrack> tracks);
    void warn_of_strays(const SavedRun& saved);
    void schedule_next();

    EngineRun& run_;
    SavedRank& rank_;
    const std::vector<SavedWorker*> workers_;
    std::barrier<>& barrier_;
    SavedRunFolder folder_;
    Stopwatch loop_;                     // of the event loop
    std::optional<AddressMap> map_;      // of the present save
    std::vector<SavedPart> parts_;       // by worker
    std::vector<std::string> failures_;  // by worker
    // State of the present save.
    std::string path_;
    std::string failure_;  // not empty: the save could not be begun, and workers write nothing
    std::vector<SavedTrack> tracks_;  // of this rank
    // The signal that ends the run after the save; equal on all ranks. 0: none.
    std::uint64_t signal_ = 0;
    OutputPosition output_;
    bool has_warned_of_strays_ = false;
};

}  // namespace nw
