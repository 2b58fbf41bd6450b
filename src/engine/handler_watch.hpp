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
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <numawarp/time.hpp>

#include "numa/handler/handler_probe.hpp"
#include "plan/config.hpp"
#include "stats/live_progress.hpp"

namespace nw {

// What a thread is running. The hook is a literal such as "on_start()"; empty: on_event.
struct RunningHandler {
    const char* hook = "";
    VirtualTime time = 0;
    std::uint32_t lp = 0;
    std::uint32_t sender = 0;
    std::uint32_t type = 0;
    bool certain = false;  // it will not be undone, and so is not interrupted
};

// A thread that runs handlers, as the watch sees it.
class WatchedThread : public HandlerProbe {
  public:
    // Thread: the watch. The answer to a probe of this call; false while there is none.
    bool report(std::uint64_t call, RunningHandler& handler) const noexcept;

  protected:
    ~WatchedThread() = default;

  private:
    // Async-signal-safe, on the thread itself, amid the handler.
    virtual RunningHandler running_handler() const noexcept = 0;
    bool answer(ProbeWish wish, FaultGuard& guard) noexcept final;

    RunningHandler handler_;
    std::atomic<std::uint64_t> reported_call_{0};  // of handler_, which is written before it
};

// The calling thread runs handlers of a Worker, say, from adopt() on while this lives.
template <class Runner>
class AdoptedThread {
  public:
    AdoptedThread() = default;
    explicit AdoptedThread(Runner& runner) { adopt(runner); }
    ~AdoptedThread() { leave(); }
    AdoptedThread(const AdoptedThread&) = delete;
    AdoptedThread& operator=(const AdoptedThread&) = delete;

    // Cost: some microseconds, unless it is the same as before.
    void adopt(Runner& runner) {
        if (runner_ == &runner) return;
        leave();
        runner_ = &runner;
        runner.adopt_thread();
    }

  private:
    void leave() noexcept {
        if (runner_ != nullptr) runner_->leave_thread();
    }

    Runner* runner_ = nullptr;
};

class HandlerWatch {
  public:
    // `threads` outlive the watch. `progress.warn` is called from its thread.
    HandlerWatch(const Config& config, std::vector<WatchedThread*> threads, LiveProgress& progress);
    ~HandlerWatch();
    HandlerWatch(const HandlerWatch&) = delete;
    HandlerWatch& operator=(const HandlerWatch&) = delete;

  private:
    using Clock = std::chrono::steady_clock;

    struct Watched {
        WatchedThread* thread;
        std::uint64_t call = 0;  // that was running at the last look
        Clock::time_point since{};
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

    void run();
    void look(Watched& watched);
    void look_at_call(Watched& watched, double seconds, double cpu_seconds);
    void leave(Watched& watched, ProbeWish wish, double seconds, double cpu_seconds);
    void say(const RunningHandler& handler, double seconds);

    const double watchdog_seconds_;
    const double timeout_seconds_;
    LiveProgress& progress_;
    std::vector<Watched> watched_;
    double certain_seconds_ = 0;  // the longest that a certain handler has taken
    std::mutex mutex_;
    std::condition_variable ended_;
    bool end_ = false;
    std::thread thread_;
};

}  // namespace nw
