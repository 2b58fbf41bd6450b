// Saves a whole run, on all ranks, while every worker stands still: how they come to that is the engine's
// business. Each worker writes its groups to a file of its own; then the first rank makes the whole of it count
// (saved_run_folder.hpp). What fails leaves the last saved run as it is, and this one goes on.
//
// Thread: save() by all workers at once, which wait for each other in it.
#pragma once

#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/saved_group.hpp"
#include "checkpoint/saved_run_folder.hpp"
#include "engine/engines.hpp"
#include "engine/saved_worker.hpp"
#include "stats/run_history.hpp"
#include "stats/stopwatch.hpp"

namespace nw {

// The event loop begins: where the run left off that this one goes on from. Thread: worker 0.
void begin_progress(EngineRun& run, RunHistory& history);

// A run that goes on cuts its tables only when no rank can refuse to go on any more. Collective over the ranks, by
// one thread of each.
void begin_output(EngineRun& run);

// As the saver knows them.
template <class Worker>
std::vector<SavedWorker*> saved_workers(const std::vector<std::unique_ptr<Worker>>& workers) {
    std::vector<SavedWorker*> all;
    for (const auto& worker : workers) all.push_back(worker.get());
    return all;
}

class RunSaver {
  public:
    // `workers`: of this rank; `barrier`: of all of them.
    RunSaver(EngineRun& run, SavedRank& rank, std::vector<SavedWorker*> workers,
             std::barrier<>& barrier);

    // Thread: worker 0, right before the first event.
    void begin();

    // Thread: each worker, when all stand still. Ensures: workers go on, or have ended if a signal was
    // the reason. If it was and the run could not be saved, or if anything else went wrong than that a
    // file cannot be written, the rank has failed.
    void save(std::uint32_t worker);

  private:
    void open();
    void write_trace();
    void write_part(std::uint32_t worker);
    void close();
    void complete(std::vector<SavedPart> parts, std::vector<SavedTrack> tracks);
    void say_strays(const SavedRun& saved);
    void schedule_next();

    EngineRun& run_;
    SavedRank& rank_;
    const std::vector<SavedWorker*> workers_;
    std::barrier<>& barrier_;
    SavedRunFolder folder_;
    Stopwatch loop_;                     // since begin()
    std::optional<AddressMap> map_;      // of the saving under way
    std::vector<SavedPart> parts_;       // by worker
    std::vector<std::string> failures_;  // by worker
    // What belongs to the saving that is under way.
    std::string path_;
    std::string failure_;             // before any worker wrote: empty, or the end of it
    std::vector<SavedTrack> tracks_;  // of this rank
    std::uint64_t signal_ = 0;  // that ends the run when it is saved; known to all ranks alike
    OutputPosition output_;
    bool strays_said_ = false;
};

}  // namespace nw
