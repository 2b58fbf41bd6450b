// A thread that runs handlers, and what the watch (handler_watch.hpp) learns from it by a probe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

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

// The event that a thread executes next, and how many it has executed.
struct UpcomingEvent {
    VirtualTime time = 0;
    std::uint32_t lp = 0;
    std::uint32_t sender = 0;
    EventType type = 0;
    std::uint64_t executed = 0;
};

// A thread that runs handlers, as the watch sees it.
class WatchedThread : public HandlerProbe {
  public:
    // Thread: the watch. The answer to a probe of this call; false while there is none.
    bool report(std::uint64_t call, RunningHandler& handler) const noexcept;

    // Thread: the watch. After the running handler no other is called before the thread has looked for requests: a batch of
    // slow handlers may take minutes.
    void end_batch() noexcept {
        is_batch_ended_.store(true, std::memory_order_relaxed);
        looks_each_event_.store(true, std::memory_order_relaxed);
    }
    // Thread: the watch. Which event the thread executes next: asks, and returns true with the next call after the thread's
    // next batch has begun. Then it has asked again.
    bool ask_upcoming(UpcomingEvent& event) noexcept {
        const bool is_answered = upcoming_is_ == Upcoming::answered;
        if (is_answered) event = upcoming_;
        if (upcoming_is_ != Upcoming::asked) upcoming_is_ = Upcoming::asked;
        return is_answered;
    }

  protected:
    ~WatchedThread() = default;

    bool is_asked() const noexcept {
        return upcoming_is_.load(std::memory_order_relaxed) == Upcoming::asked;
    }
    // Requires: is_asked(). No event: the answer comes later.
    void answer(const std::optional<UpcomingEvent>& event) noexcept {
        if (!event || upcoming_is_ != Upcoming::asked) return;
        upcoming_ = *event;
        upcoming_is_ = Upcoming::answered;
    }

    // Called before a batch. Where `may_end`, leaves_batch() calls ends() before each event.
    void begin_batch(bool may_end) noexcept {
        is_batch_ended_.store(false, std::memory_order_relaxed);
        looks_each_event_.store(may_end, std::memory_order_relaxed);
    }
    // Called before each event of a batch. Whether the watch or ends() ends the batch.
    template <class Ends>
    bool leaves_batch(Ends&& ends) const noexcept {
        if (!looks_each_event_.load(std::memory_order_relaxed)) [[likely]]
            return false;
        return is_batch_ended_.load(std::memory_order_relaxed) || ends();
    }

  private:
    // Async-signal-safe, on the thread itself, amid the handler.
    virtual RunningHandler running_handler() const noexcept = 0;
    bool answer(ProbeWish wish, FaultGuard& guard) noexcept final;

    RunningHandler handler_;
    std::atomic<bool> looks_each_event_{false};
    std::atomic<bool> is_batch_ended_{false};
    // upcoming_ is the thread's while it is asked, and else the watch's.
    enum class Upcoming : std::uint8_t { unasked, asked, answered };
    std::atomic<Upcoming> upcoming_is_{Upcoming::unasked};
    UpcomingEvent upcoming_{};
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
