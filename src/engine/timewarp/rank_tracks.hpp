// SPDX-License-Identifier: Apache-2.0
// The tracks of --trace that one rank has, over all pieces of a run. They are saved in checkpoints.
// If a restarted run has a track of the same rank and name as a saved track, it continues the saved
// track. It keeps the other saved tracks unchanged.
//
// While a piece runs, its tracks are in the time of the steady clock, which differs between hosts.
// In a checkpoint and in a result, tracks are in the time of the whole run. The conversion uses the
// system clock, which all hosts have in common.
//
// Thread: one at a time; no other thread writes to the tracks during a call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/checkpoint/saved_run.hpp"
#include "engine/engine_run.hpp"
#include "results/statistics/trace.hpp"

namespace nw {

class RankTracks {
  public:
    // The track of a thread of this rank, or of an activity that the threads of this rank perform
    // in turn.
    struct Own {
        std::string name;
        TraceTrack* track;
    };

    // Ignores tracks that are off.
    RankTracks(EngineRun& run, std::vector<Own> own);

    // If the run is a restart, reads the spans of earlier pieces. Called before anything is traced.
    // Throws SetupError.
    void resume();
    // Called when the event loop begins.
    void begin() noexcept { begin_ = TraceTrack::Clock::now(); }

    // Writes the tracks to a new file. `file_number`: the index of the file in SavedRun::files.
    // Collective over the ranks. Throws MachineError.
    std::vector<SavedTrack> save(const std::string& path, std::uint32_t file_number) const;
    // Moves the tracks into the result. Collective over the ranks.
    void gather();

  private:
    struct Clock;

    Clock clock() const;
    NamedTrack named(const Own& own, const Clock& clock) const;
    void report_left_out_spans() const;

    EngineRun& run_;
    std::vector<Own> own_;
    std::vector<NamedTrack> others_;  // of threads that this piece does not have
    std::int64_t before_ns_ = 0;      // duration of the run before this piece
    TraceTrack::Clock::time_point begin_{};
};

}  // namespace nw
