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
    void end_batch() noexcept { batch_max_.store(0, std::memory_order_relaxed); }

    // Thread: the watch. Asks which event the thread executes next; the answer comes with its next batch.
    void ask_upcoming() noexcept { is_asked_.store(true, std::memory_order_relaxed); }
    // Thread: the watch. False while there is no new answer.
    bool take_upcoming(UpcomingEvent& event) noexcept {
        if (!is_answered_.load(std::memory_order_acquire)) return false;  // pairs with answer()
        event = upcoming_;
        is_answered_.store(false, std::memory_order_relaxed);
        return true;
    }

  protected:
    ~WatchedThread() = default;

    // upcoming() returns the UpcomingEvent, or no value where there is none.
    template <class Upcoming>
    void answer(Upcoming&& upcoming) noexcept {
        if (!is_asked_.load(std::memory_order_relaxed)) [[likely]]
            return;
        const std::optional<UpcomingEvent> event = upcoming();
        if (!event) return;
        is_asked_.store(false, std::memory_order_relaxed);
        upcoming_ = *event;
        is_answered_.store(true, std::memory_order_release);
    }

    // Events of the batch under way. Read before each event, and so in no register.
    void begin_batch(std::uint64_t events_max) noexcept {
        batch_max_.store(events_max, std::memory_order_relaxed);
    }
    bool goes_on_after(std::uint64_t events) const noexcept {
        return events < batch_max_.load(std::memory_order_relaxed);
    }

  private:
    // Async-signal-safe, on the thread itself, amid the handler.
    virtual RunningHandler running_handler() const noexcept = 0;
    bool answer(ProbeWish wish, FaultGuard& guard) noexcept final;

    RunningHandler handler_;
    std::atomic<std::uint64_t> batch_max_{0};
    std::atomic<bool> is_asked_{false};  // for upcoming_, which is the thread's while it is true
    std::atomic<bool> is_answered_{false};
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
