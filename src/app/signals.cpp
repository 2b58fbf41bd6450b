// SPDX-License-Identifier: Apache-2.0
#include "app/signals.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <time.h>
#include <unistd.h>

#include "util/exit_codes.hpp"

namespace nw {

namespace {

constexpr std::int64_t patience_ns = 500'000'000;

std::atomic<int> received_signal{0};
std::atomic<std::int64_t> first_at_ns{0};  // 0: no signal was received
std::atomic<bool> only_interrupts_kill{false};
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler must not wait for a lock");

std::atomic<const LiveProgress*> stopped_run{nullptr};
std::atomic<bool> speaks_of_stop{false};

std::atomic<LiveProgress*> signaled_progress{nullptr};
static_assert(std::atomic<LiveProgress*>::is_always_lock_free);

// Runs on any thread, also in the middle of a handler. Therefore it only accesses atomics or calls
// write().
void on_placement_signal(int) {
    LiveProgress* live = signaled_progress.load();
    if (live != nullptr && live->placement_watched.load(std::memory_order_relaxed)) {
        live->placement_requests.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    constexpr std::string_view answer =
        "numawarp: placement: not monitored (Time Warp monitors it after set-up, on several NUMA "
        "nodes or with --pagemigd)\n";
    const int errno_before = errno;
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, answer.data(), answer.size());
    errno = errno_before;
}

std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);  // POSIX allows it in a signal handler
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Returns a description of the current phase if the engine does not read stop requests in this
// phase; null if the engine reads them.
const char* unstoppable_phase() {
    const LiveProgress* const live = stopped_run.load();
    if (live == nullptr) return nullptr;
    return live->begun.load(std::memory_order_relaxed)
               ? live->unstoppable.load(std::memory_order_relaxed)
               : "during set-up; no event was executed";
}

[[noreturn]] void end_at_once(int signal, const char* phase) {
    if (speaks_of_stop.load(std::memory_order_relaxed)) {
        const char* const name = signal == SIGINT    ? "SIGINT "
                                 : signal == SIGTERM ? "SIGTERM "
                                 : signal == SIGUSR1 ? "SIGUSR1 "
                                                     : "SIGHUP ";
        for (const char* const part : {"numawarp: stopped by ", name, phase, "\n"}) {
            [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, part, std::strlen(part));
        }
    }
    _exit(exit_signal_base + signal);
}

void on_signal(int signal) {
    if (const char* const phase = unstoppable_phase(); phase != nullptr && received_signal == 0)
        end_at_once(signal, phase);
    const std::int64_t now = monotonic_ns();
    std::int64_t first = 0;
    if (first_at_ns.compare_exchange_strong(first, now, std::memory_order_relaxed)) {
        received_signal.store(signal, std::memory_order_relaxed);
    } else if (now - first >= patience_ns &&
               (signal == SIGINT || !only_interrupts_kill.load(std::memory_order_relaxed))) {
        ::signal(signal, SIG_DFL);
        raise(signal);  // takes effect when this handler returns
    }
}

}  // namespace

StopSignals::StopSignals(const LiveProgress& live, bool is_saved, bool speaks) {
    stopped_run.store(&live);
    speaks_of_stop.store(speaks, std::memory_order_relaxed);
    only_interrupts_kill.store(is_saved, std::memory_order_relaxed);
    received_signal.store(0, std::memory_order_relaxed);
    first_at_ns.store(0, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    const auto listen = [&](int signal) {
        struct sigaction old {};
        sigaction(signal, nullptr, &old);
        if (signal == SIGHUP && old.sa_handler == SIG_IGN) return;
        sigaction(signal, &action, nullptr);
        replaced_.push_back({signal, old});
    };
    listen(SIGINT);
    listen(SIGTERM);
    if (!is_saved) return;
    listen(SIGUSR1);
    listen(SIGHUP);
}

StopSignals::~StopSignals() {
    stopped_run.store(nullptr);
    for (const Replaced& replaced : replaced_) sigaction(replaced.signal, &replaced.old, nullptr);
}

PlacementSignal::PlacementSignal(LiveProgress& live) {
    signaled_progress.store(&live);
    struct sigaction action {};
    action.sa_handler = on_placement_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR2, &action, &old_action_);
}

PlacementSignal::~PlacementSignal() {
    sigaction(SIGUSR2, &old_action_, nullptr);
    signaled_progress.store(nullptr);
}

const std::atomic<int>& StopSignals::received() const noexcept { return received_signal; }

}  // namespace nw
