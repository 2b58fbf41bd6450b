// SPDX-License-Identifier: Apache-2.0
#include "engine/handler_watch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/watched_thread.hpp"
#include "engine/worker_threads.hpp"
#include "numa/os/signals.hpp"
#include "plan/run_plan.hpp"
#include "results/statistics/live_progress.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

constexpr std::chrono::milliseconds between_checks{10};
// At most this much time is counted between two checks. If more time has passed, the process was
// stopped together with all handlers, or the machine is so busy that handlers have hardly run.
constexpr std::chrono::milliseconds between_looks_max{100};

// A handler runs long if its CPU time is at least long_cpu_seconds, and at least long_means times
// the mean time of its thread's handlers. The mean is computed from the checks that find a handler
// running, so that idle time between handlers is not included. Interrupting a handler wastes the
// time that this handler has run.
//
// long_cpu_seconds is twice the interval between two checks: one check finds a handler, and the
// next requests its description, so the watch cannot act earlier. long_means bounds the wasted
// time. By Markov's inequality, at most one handler in 100 takes 100 times the mean. So the
// interrupted executions together waste at most as much time as all handlers take. In practice they
// waste much less, because the inequality holds with equality only for extreme distributions of the
// times.
constexpr double long_cpu_seconds = std::chrono::duration<double>(2 * between_checks).count();
constexpr double long_means = 100;
// A handler that sleeps or waits takes no CPU time; elapsed time is counted instead.
constexpr double long_wall_seconds = 0.5;
// A handler runs long only if it has also taken at least this multiple of the longest time of the
// model's irrevocable handlers.
constexpr double irrevocable_times = 4;

// A handler that prints, for example, is nearly always in the C library and holds locks of the
// library there. Therefore the watch sends many requests in a row. Only a request that finds the
// handler outside of the library interrupts or ends the handler.
constexpr std::uint32_t requests_in_a_row = 100;
constexpr std::chrono::microseconds between_requests{50};
// Limits after which the watch interrupts or ends a handler even if it is inside the C library
// (`by_force`). If the handler takes no CPU time in more than waits_max checks, it may wait for
// something that never occurs. If every request during tries_cpu_seconds_max has found the handler
// inside the library, it will probably stay there. This limit is CPU time, so that the handler has
// as many chances to leave on a busy machine as on a quiet one. tries_seconds_max limits the
// elapsed time.
constexpr std::uint32_t waits_max = 5;
constexpr double tries_cpu_seconds_max = 0.25;
constexpr double tries_seconds_max = 3;

// Before the watch reports that virtual time does not advance, a thread must have executed this
// number of events at one virtual time. The report names up to `events_named` of these events.
constexpr std::uint64_t events_of_cycle = 10'000;
constexpr std::size_t events_named = 4;

}  // namespace

HandlerWatch::HandlerWatch(const RunPlan& plan, std::vector<WatchedThread*> threads,
                           LiveProgress& progress, const std::atomic<int>& stop_signal)
    : plan_(plan),
      watchdog_seconds_(plan.config.watchdog_seconds),
      timeout_seconds_(plan.config.handler_timeout_seconds),
      progress_(progress),
      stop_signal_(stop_signal) {
    for (WatchedThread* thread : threads) watched_.push_back({thread});
    standing_.resize(watched_.size());
    // The new thread inherits the blocked signals, so other threads handle the process's signals.
    const SignalsBlocked blocked;
    thread_ = start_thread<std::thread>("that watches handlers", [this] { run(); });
}

HandlerWatch::~HandlerWatch() {
    {
        const LockGuard lock(mutex_);
        end_ = true;
    }
    ended_.notify_all();
    thread_.join();
}

void HandlerWatch::run() {
    LockGuard lock(mutex_);
    while (!ended_.wait_for(lock, between_checks, [this]() NW_REQUIRES(mutex_) { return end_; })) {
        const auto now = Clock::now();
        awake_ += std::min<std::chrono::nanoseconds>(now - std::exchange(last_sample_, now),
                                                     between_looks_max);
        const bool is_stopping = stop_signal_.load(std::memory_order_relaxed) != 0;
        for (std::size_t i = 0; i < watched_.size(); ++i) {
            WatchedThread& thread = *watched_[i].thread;
            if (is_stopping) thread.end_batch();
            check(watched_[i]);
            if (watchdog_seconds_ > 0) look_at_time(thread, standing_[i]);
        }
    }
}

// A cycle of events with zero delay never ends, although each of its handlers returns.
void HandlerWatch::look_at_time(WatchedThread& thread, Standing& standing) {
    UpcomingEvent event;
    if (!thread.request_upcoming(event)) return;
    if (event.time != standing.first.time) {
        standing = {event, awake_, watchdog_seconds_};
        return;
    }
    const std::string words =
        fmt::format("{} for {} from {}", plan_.kinds.event_name(event.lp, event.type),
                    plan_.kinds.name(event.lp), plan_.kinds.name(event.sender));
    if (standing.events.size() < events_named &&
        std::find(standing.events.begin(), standing.events.end(), words) == standing.events.end())
        standing.events.push_back(words);
    const double seconds = std::chrono::duration<double>(awake_ - standing.since).count();
    const std::uint64_t events = event.executed - standing.first.executed;
    if (seconds < standing.next_line || events < events_of_cycle || !progress_.warn) return;
    standing.next_line *= 2;
    progress_.warn(fmt::format(
        "virtual time has not advanced from {} for {:.0f} s and {} events, such as: {}; a cycle of "
        "events with zero delay never ends; allowed: a delay above 0 somewhere in the cycle",
        event.time, seconds, events, fmt::join(standing.events, ", ")));
}

void HandlerWatch::check(Watched& watched) {
    const std::uint64_t call = watched.thread->running_call();
    const double seconds = std::chrono::duration<double>(awake_ - watched.since).count();
    if (call == 0 || call != watched.call) {
        if (watched.irrevocable) irrevocable_seconds_ = std::max(irrevocable_seconds_, seconds);
        // A call that had to be interrupted is not typical, and does not count.
        const bool is_usual = watched.call != 0 && watched.tried_since == 0;
        watched = {watched.thread,
                   call,
                   awake_,
                   watched.thread->cpu_seconds(),
                   watched.earlier + (is_usual ? seconds : 0),
                   watchdog_seconds_};
        return;
    }
    look_at_call(watched, seconds, watched.thread->cpu_seconds() - watched.cpu_since);
}

void HandlerWatch::look_at_call(Watched& watched, double seconds, double cpu_seconds) {
    WatchedThread& thread = *watched.thread;
    if (!watched.is_requested) {
        watched.is_requested = true;
        thread.request(ProbeRequest::report, watched.call);
        return;
    }
    RunningHandler handler;
    if (!thread.report(watched.call, handler)) {
        thread.request(ProbeRequest::report, watched.call);
        return;
    }
    watched.irrevocable = handler.irrevocable;
    if (watchdog_seconds_ > 0 && seconds >= watched.next_line) {
        watched.next_line *= 2;
        report(handler, seconds);
    }
    if (handler.irrevocable) {
        if (timeout_seconds_ > 0 && seconds >= timeout_seconds_)
            leave(watched, ProbeRequest::end, seconds, cpu_seconds);
        return;
    }
    const double mean = watched.earlier / static_cast<double>(watched.call);
    const double usual = std::max(long_means * mean, irrevocable_times * irrevocable_seconds_);
    if (cpu_seconds >= std::max(long_cpu_seconds, usual) ||
        seconds >= std::max(long_wall_seconds, usual))
        leave(watched, ProbeRequest::interrupt, seconds, cpu_seconds);
}

void HandlerWatch::leave(Watched& watched, ProbeRequest request, double seconds,
                         double cpu_seconds) {
    watched.waits = cpu_seconds > watched.cpu_seconds + 1e-4 ? 0 : watched.waits + 1;
    if (watched.tried_since == 0) {
        watched.tried_since = seconds;
        watched.tried_cpu_since = cpu_seconds;
    }
    const bool by_force = watched.waits > waits_max ||
                          cpu_seconds - watched.tried_cpu_since >= tries_cpu_seconds_max ||
                          seconds - watched.tried_since >= tries_seconds_max;
    // A waiting thread has not run since the last request, so one request is enough.
    const std::uint32_t requests = watched.waits > 0 ? 1 : requests_in_a_row;
    for (std::uint32_t i = 0; i < requests; ++i) {
        if (watched.thread->running_call() != watched.call) return;
        watched.thread->request(request, watched.call, by_force);
        std::this_thread::sleep_for(between_requests);
    }
    // The CPU time for answering the requests does not count as progress of a waiting handler.
    watched.cpu_seconds = watched.thread->cpu_seconds() - watched.cpu_since;
}

void HandlerWatch::report(const RunningHandler& handler, double seconds) {
    if (!progress_.warn) return;
    const std::string what =
        *handler.hook != '\0'
            ? fmt::format("in {}", handler.hook)
            : fmt::format("{} from {}", plan_.kinds.event_name(handler.lp, handler.type),
                          plan_.kinds.name(handler.sender));
    progress_.warn(
        fmt::format("{} at time {}, {}: the handler has not returned for {:.0f} s; "
                    "--handler-timeout SECONDS ends a run whose handler never returns",
                    plan_.kinds.name(handler.lp), handler.time, what, seconds));
}

}  // namespace nw
