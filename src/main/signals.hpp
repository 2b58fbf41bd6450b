// SIGINT and SIGTERM (with --checkpoint SIGUSR1 and SIGHUP, too) become a request to end in order, which the
// engine reads between events. Where no engine reads it the first signal ends the process with a line and the exit code
// 128 + signal: during set-up, in on_end(), and while results are written. A signal that comes half a second after the
// first one or later kills the process, as if nobody had listened; what comes sooner is the same request once more, since
// `timeout` and shells signal a process and then its group.
//
// SIGUSR2 asks where the run's pages are. The answer is a line on standard error, given by whoever
// watches placement, or by the signal handler itself where nobody does.
#pragma once

#include <atomic>
#include <csignal>
#include <vector>

#include <signal.h>

#include "stats/live_progress.hpp"

namespace nw {

// Listens while it lives. One at a time in a process, since a signal handler has no other way to its
// data than a global variable.
class StopSignals {
  public:
    // `is_saved`: SIGUSR1 is one, too, and SIGHUP unless it is ignored (nohup); and only a second SIGINT
    // kills: the run is to be saved, and batch systems send more than one signal while that lasts.
    // `live`, of the run, outlives this. `speaks`: a signal that ends the process at once is reported in a line. Not by one
    // of several ranks, which the launcher ends when another rank has failed.
    StopSignals(const LiveProgress& live, bool is_saved, bool speaks);
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // 0, or the signal that came.
    const std::atomic<int>& received() const noexcept;

  private:
    struct Replaced {
        int signal;
        struct sigaction old;
    };
    std::vector<Replaced> replaced_;
};

// Listens for SIGUSR2 while it lives. One at a time in a process, as above.
class PlacementSignal {
  public:
    explicit PlacementSignal(LiveProgress& live);
    ~PlacementSignal();
    PlacementSignal(const PlacementSignal&) = delete;
    PlacementSignal& operator=(const PlacementSignal&) = delete;

  private:
    struct sigaction old_action_ {};
};

}  // namespace nw
