// The tracks of --trace that one rank has, over all pieces of a run: saved with it, gone on with where a
// restarted run has a thread of that name, and kept as they are where it has none.
//
// While a piece runs its tracks are in the time of the steady clock, which is each host's own. In a
// checkpoint and in a result they are in the time of the whole run, by the clock that all hosts have.
//
// Thread: one at a time; nobody else writes to the tracks meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/saved_run.hpp"
#include "engine/engines.hpp"
#include "stats/trace.hpp"

namespace nw {

class RankTracks {
  public:
    // Of a thread of this rank, or of what it does in turn with others.
    struct Own {
        std::string name;
        TraceTrack* track;
    };

    // Those that are off are none.
    RankTracks(EngineRun& run, std::vector<Own> own);

    // Before anything is traced: earlier pieces' spans, where the run goes on from others. Throws SetupError.
    void resume();
    // The event loop begins.
    void begin() noexcept { begin_ = TraceTrack::Clock::now(); }

    // Collective over the ranks. Writes them to a new file, which has that number. Throws MachineError.
    std::vector<SavedTrack> save(const std::string& path, std::uint32_t file_number) const;
    // The same, into the result.
    void gather();

  private:
    struct Clock;

    Clock clock() const;
    NamedTrack named(const Own& own, const Clock& clock) const;
    void say_what_is_left_out() const;

    EngineRun& run_;
    std::vector<Own> own_;
    std::vector<NamedTrack> others_;  // of threads that this piece has not
    std::int64_t before_ns_ = 0;      // of the run, before this piece
    TraceTrack::Clock::time_point begin_{};
};

}  // namespace nw
