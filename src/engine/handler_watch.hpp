// Handlers that do not come back.
//
// In a state that exists only because events came in the wrong order a correct handler may run for
// ever. So what runs long while others wait is interrupted, and its event put aside until GVT has
// reached it (worker_interruption.cpp); then it runs again, and what it does is what the model does.
// A handler that is certain is never interrupted; the watchdog names it, again and again, and
// --handler-timeout ends the run.
//
// One thread looks at all workers a hundred times a second. Workers publish nothing for it: it sees
// whether the same call still runs, and asks by a signal what that is (numa/handler/handler_probe.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/watched_thread.hpp"
#include "numa/handler/handler_probe.hpp"

namespace nw {

class WatchedThread;
struct RunPlan;
struct LiveProgress;
struct RunningHandler;

// What a watch is given of the runners of a run.
template <class Runner>
std::vector<WatchedThread*> watched(const std::vector<std::unique_ptr<Runner>>& runners) {
    std::vector<WatchedThread*> threads;
    for (const auto& runner : runners) threads.push_back(runner.get());
    return threads;
}

class HandlerWatch {
  public:
    // `threads` outlive the watch. `progress.warn` is called from its thread. While `stop_signal` is not 0, the watch ends
    // the threads' batches.
    HandlerWatch(const RunPlan& plan, std::vector<WatchedThread*> threads, LiveProgress& progress,
                 const std::atomic<int>& stop_signal);
    ~HandlerWatch();
    HandlerWatch(const HandlerWatch&) = delete;
    HandlerWatch& operator=(const HandlerWatch&) = delete;

  private:
    using Clock = std::chrono::steady_clock;

    struct Watched {
        WatchedThread* thread;
        std::uint64_t call = 0;            // that was running at the last look
        std::chrono::nanoseconds since{};  // on the watch's own clock
        double cpu_since = 0;
        double earlier = 0;       // seconds in which looks found earlier calls running
        double next_line = 0;     // of the watchdog's, after so many seconds
        double cpu_seconds = 0;   // that the call had taken at the last look
        std::uint32_t waits = 0;  // looks since it took any
        double tried_since = 0;   // to leave it, in seconds of the call; 0: not yet
        double tried_cpu_since = 0;
        bool asked = false;  // what is running
        bool certain = false;
    };

    // Of a thread that executes events all of which lie at one virtual time.
    struct Standing {
        UpcomingEvent first{.time = -1};
        std::chrono::nanoseconds since{};
        double next_line = 0;               // of the watchdog's, after so many seconds
        std::vector<std::string> events{};  // some of them, in words
    };

    void run();
    void look(Watched& watched);
    void look_at_time(WatchedThread& thread, Standing& standing);
    void look_at_call(Watched& watched, double seconds, double cpu_seconds);
    void leave(Watched& watched, ProbeWish wish, double seconds, double cpu_seconds);
    void report(const RunningHandler& handler, double seconds);

    const RunPlan& plan_;
    const double watchdog_seconds_;
    const double timeout_seconds_;
    LiveProgress& progress_;
    const std::atomic<int>& stop_signal_;
    std::vector<Watched> watched_;
    std::vector<Standing> standing_;  // as watched_
    // The watch's own clock stands still while the process is stopped (SIGSTOP, the freezer of a control group).
    std::chrono::nanoseconds awake_{};
    Clock::time_point last_look_ = Clock::now();
    double certain_seconds_ = 0;  // the longest that a certain handler has taken
    std::mutex mutex_;
    std::condition_variable ended_;
    bool end_ = false;
    std::thread thread_;
};

}  // namespace nw
