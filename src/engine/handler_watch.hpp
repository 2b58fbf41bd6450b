// SPDX-License-Identifier: Apache-2.0
// Detects handlers that do not return.
//
// In a state that exists only because events were executed in the wrong order, a correct handler
// may run without end. Therefore a handler is interrupted if it runs long and its event can still
// be undone. The event is deferred until GVT has reached the event's time (deferrals.hpp). Then the
// handler runs again, in a correct state. An irrevocable handler is never interrupted: the watchdog
// reports it repeatedly, and --handler-timeout ends the run.
//
// One thread of each rank checks all workers a hundred times per second. For each call, a worker
// publishes only the call's number. The watch reads the number to detect whether the same call
// still runs, and requests a description of the call by a signal
// (memory/handler/handler_probe.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/watched_thread.hpp"
#include "memory/handler/handler_probe.hpp"
#include "util/locks.hpp"

namespace nw {

class WatchedThread;
struct RunPlan;
struct LiveProgress;
struct RunningHandler;

class HandlerWatch {
  public:
    // Requires: `threads` outlive the watch. The watch's thread calls `progress.warn`. While
    // `stop_signal` is not 0, the watch ends the threads' batches.
    HandlerWatch(const RunPlan& plan, std::vector<WatchedThread*> threads, LiveProgress& progress,
                 const std::atomic<int>& stop_signal);
    ~HandlerWatch();
    HandlerWatch(const HandlerWatch&) = delete;
    HandlerWatch& operator=(const HandlerWatch&) = delete;

  private:
    using Clock = std::chrono::steady_clock;

    struct Watched {
        WatchedThread* thread;
        std::uint64_t call = 0;            // running at the last check; 0: none
        std::chrono::nanoseconds since{};  // when the call was first seen, on the watch's own clock
        double cpu_since = 0;
        double earlier = 0;       // seconds in which checks found earlier calls running
        double next_line = 0;     // seconds of the call after which the watchdog reports it
        double cpu_seconds = 0;   // CPU time that the call had taken at the last check
        std::uint32_t waits = 0;  // checks since the call last took CPU time
        double tried_since = 0;   // seconds of the call at the first request to leave; 0: none
        double tried_cpu_since = 0;
        bool is_requested = false;  // a description was requested
        bool irrevocable = false;
    };

    // A period in which a thread executes only events of one virtual time.
    struct Standing {
        UpcomingEvent first{.time = -1};
        std::chrono::nanoseconds since{};
        double next_line = 0;               // seconds after which the watchdog reports the period
        std::vector<std::string> events{};  // descriptions of some of these events
    };

    void run();
    void check(Watched& watched);
    void look_at_time(WatchedThread& thread, Standing& standing);
    void look_at_call(Watched& watched, double seconds, double cpu_seconds);
    void leave(Watched& watched, ProbeRequest request, double seconds, double cpu_seconds);
    void report(const RunningHandler& handler, double seconds);

    const RunPlan& plan_;
    const double watchdog_seconds_;
    const double timeout_seconds_;
    LiveProgress& progress_;
    const std::atomic<int>& stop_signal_;
    std::vector<Watched> watched_;
    std::vector<Standing> standing_;  // one element per thread, as in watched_
    // The watch's own clock. It stops while the process is stopped (SIGSTOP, the freezer of a
    // control group).
    std::chrono::nanoseconds awake_{};
    Clock::time_point last_sample_ = Clock::now();
    double irrevocable_seconds_ = 0;  // the longest time that an irrevocable handler has taken
    Mutex mutex_;
    std::condition_variable_any ended_;
    bool end_ NW_GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

}  // namespace nw
