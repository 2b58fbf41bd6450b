// A thread that runs handlers, and what the watch (handler_watch.hpp) learns from it by a probe.
#pragma once

#include <atomic>
#include <cstdint>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

#include "numa/handler/handler_probe.hpp"

namespace nw {

// What a thread is running. The hook is a literal such as "on_start()"; empty: on_event.
struct RunningHandler {
    const char* hook = "";
    VirtualTime time = 0;
    std::uint32_t lp = 0;
    std::uint32_t sender = 0;
    EventType type = 0;
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
        runner_ = nullptr;
        runner.adopt_thread();
        runner_ = &runner;
    }

  private:
    void leave() noexcept {
        if (runner_ != nullptr) runner_->leave_thread();
    }

    Runner* runner_ = nullptr;
};

}  // namespace nw
