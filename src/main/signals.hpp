// SIGINT and SIGTERM become a request to end in order, which the engine reads between events; a
// second one kills the process, as if nobody had listened.
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
