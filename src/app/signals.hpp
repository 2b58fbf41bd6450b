// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM, and with --checkpoint also SIGUSR1 and SIGHUP, become a request to end the
// run in an orderly way. The engine reads it between events. During set-up, in on_end() and while
// results are written, no engine reads it. In these phases, the first signal ends the process with
// one line and the exit code 128 + signal.
//
// A second signal that arrives at least 0.5 s after the first one kills the process by default
// handling. A second signal that arrives earlier is ignored as a repetition: `timeout` and shells
// signal a process and then its process group.
//
// SIGUSR2 requests a line on standard error that reports the nodes of the run's pages. The engine
// prints it if it monitors placement; otherwise the signal handler prints it.
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
    // `is_saved`: the run is saved when it is stopped. Then SIGUSR1 is a request, too, and SIGHUP
    // unless it is ignored (nohup). Only a second SIGINT kills the process, because batch systems
    // send several signals while the run is saved.
    // `live`: the progress of the run; must outlive this object.
    // `speaks`: a line reports the signal that ends the process at once. False for one of several
    // ranks: the launcher ends them with a signal when another rank has failed.
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
