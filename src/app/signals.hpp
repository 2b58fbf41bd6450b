// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM, and with --checkpoint also SIGUSR1 and SIGHUP, become a request to end the
// run in an orderly way. The engine reads the request between events. During set-up, in on_end()
// and while results are written, no engine reads the request. In these phases, the first signal
// ends the process with one line and the exit code 128 + signal.
//
// If a second signal arrives at least 0.5 s after the first one, the process takes the default
// action of this signal, which kills the process. With --checkpoint, only SIGINT does this (see
// StopSignals). A second signal that arrives earlier is ignored, because `timeout` and shells send
// the same signal twice: to the process and then to its process group.
//
// SIGUSR2 requests a line on standard error that reports the nodes of the run's pages. The engine
// prints this line if it monitors placement. Otherwise the signal handler prints that placement is
// not monitored.
#pragma once

#include <atomic>
#include <csignal>
#include <vector>

#include <signal.h>

#include "results/statistics/live_progress.hpp"

namespace nw {

// Handles these signals during its lifetime. At most one object exists in a process, because a
// signal handler reaches its data only through global variables.
class StopSignals {
  public:
    // `is_saved`: the run is saved when it is stopped. In this case, SIGUSR1 is a request, too, and
    // so is SIGHUP unless it is ignored (nohup). A second signal then kills the process only if it
    // is SIGINT, because batch systems send several signals while the run is saved.
    // `live`: the progress of the run; must outlive this object.
    // `speaks`: if a signal ends the process at once, a line reports the signal. False if there are
    // several ranks. When one rank has failed, the launcher ends the other ranks with a signal, and
    // these ranks must not print further lines.
    StopSignals(const LiveProgress& live, bool is_saved, bool speaks);
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // The received signal, or 0.
    const std::atomic<int>& received() const noexcept;

  private:
    struct Replaced {
        int signal;
        struct sigaction old;
    };
    std::vector<Replaced> replaced_;
};

// Handles SIGUSR2 during its lifetime. At most one object exists in a process.
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
