// SPDX-License-Identifier: Apache-2.0
// A thread that runs handlers, and the data about the thread that the watch (handler_watch.hpp)
// reads by a probe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

#include "memory/handler/handler_probe.hpp"

namespace nw {

// The handler that a thread is running. The hook is a literal such as "on_start()"; empty:
// on_event().
struct RunningHandler {
    const char* hook = "";
    VirtualTime time = 0;
    std::uint32_t lp = 0;
    std::uint32_t sender = 0;
    EventType type = 0;
    bool irrevocable = false;  // it will not be undone, so it is not interrupted
};

// The event that a thread executes next, and the number of events that it has executed.
struct UpcomingEvent {
    VirtualTime time = 0;
    std::uint32_t lp = 0;
    std::uint32_t sender = 0;
    EventType type = 0;
    std::uint64_t executed = 0;
};

// The watch's view of a thread that runs handlers.
class WatchedThread : public HandlerProbe {
  public:
    // Thread: the watch. Stores the answer to a probe of this call in `handler`. Returns false if
    // there is no answer yet.
    bool report(std::uint64_t call, RunningHandler& handler) const noexcept;

    // Thread: the watch. Ends the thread's batch: after the running handler, the thread checks for
    // requests before it calls another handler. A batch of slow handlers may take minutes.
    void end_batch() noexcept {
        is_batch_ended_.store(true, std::memory_order_relaxed);
        looks_each_event_.store(true, std::memory_order_relaxed);
    }
    // Thread: the watch. Requests a description of the event that the thread executes next. The
    // thread answers when it begins its next batch. The first call after the answer stores the
    // answer in `event`, makes the next request, and returns true. All other calls return false.
    bool request_upcoming(UpcomingEvent& event) noexcept {
        const bool is_answered = upcoming_is_ == Upcoming::answered;
        if (is_answered) event = upcoming_;
        if (upcoming_is_ != Upcoming::requested) upcoming_is_ = Upcoming::requested;
        return is_answered;
    }

  protected:
    ~WatchedThread() = default;

    bool is_requested() const noexcept {
        return upcoming_is_.load(std::memory_order_relaxed) == Upcoming::requested;
    }
    // Requires: is_requested(). If `event` is empty, the request remains open.
    void answer(const std::optional<UpcomingEvent>& event) noexcept {
        if (!event || upcoming_is_ != Upcoming::requested) return;
        upcoming_ = *event;
        upcoming_is_ = Upcoming::answered;
    }

    // Called before a batch. If `may_end`, leaves_batch() calls ends() before each event.
    void begin_batch(bool may_end) noexcept {
        is_batch_ended_.store(false, std::memory_order_relaxed);
        looks_each_event_.store(may_end, std::memory_order_relaxed);
    }
    // Called before each event of a batch. Returns whether the batch ends now: at the watch's
    // request, or because ends() returns true.
    template <class Ends>
    bool leaves_batch(Ends&& ends) const noexcept {
        if (!looks_each_event_.load(std::memory_order_relaxed)) [[likely]]
            return false;
        return is_batch_ended_.load(std::memory_order_relaxed) || ends();
    }

  private:
    // Async-signal-safe. Runs on the thread itself and interrupts a handler.
    virtual RunningHandler running_handler() const noexcept = 0;
    bool answer(ProbeRequest request, FaultGuard& guard) noexcept final;

    RunningHandler handler_;
    std::atomic<bool> looks_each_event_{false};
    std::atomic<bool> is_batch_ended_{false};
    // upcoming_ belongs to the thread while the state is `requested`, and otherwise to the watch.
    enum class Upcoming : std::uint8_t { none, requested, answered };
    std::atomic<Upcoming> upcoming_is_{Upcoming::none};
    UpcomingEvent upcoming_{};
    std::atomic<std::uint64_t> reported_call_{0};  // the call of handler_; stored after handler_
};

// Registers the calling thread as the thread of a runner (a Worker, for example), from adopt()
// until the destructor.
template <class Runner>
class AdoptedThread {
  public:
    AdoptedThread() = default;
    explicit AdoptedThread(Runner& runner) { adopt(runner); }
    ~AdoptedThread() { leave(); }
    AdoptedThread(const AdoptedThread&) = delete;
    AdoptedThread& operator=(const AdoptedThread&) = delete;

    // Cost: some microseconds, or nothing if `runner` is already adopted.
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
