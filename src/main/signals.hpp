// SIGINT and SIGTERM become a request to end in order, which the engine reads between events. One
// that comes half a second later or more kills the process, as if nobody had listened; what comes
// sooner is the same request once more, since `timeout` and shells signal a process and then its
// group.
#pragma once

#include <atomic>
#include <csignal>

#include <signal.h>

namespace nw {

// Listens while it lives. One at a time in a process, since a signal handler has no other way to its
// data than a global variable.
class StopSignals {
  public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // 0, or the signal that came.
    const std::atomic<int>& received() const noexcept;

  private:
    struct sigaction old_interrupt_ {};
    struct sigaction old_terminate_ {};
};

}  // namespace nw
