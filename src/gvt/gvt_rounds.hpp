// SPDX-License-Identifier: Apache-2.0
// A rank's part of the GVT algorithm: opens rounds, collects the cuts of the rank's workers,
// reduces the values of the cuts over the ranks, and publishes the result (docs/gvt.md). No worker
// waits here: the worker that holds the rank's net role advances the round step by step.
//
//     opened == done           no round is open
//     opened == done + 1       each worker makes its cut in its own turn; then one reduction
//     seen(worker) ≤ done ≤ opened ≤ seen(worker) + 1
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "gvt/contribution.hpp"
#include "gvt/window_control.hpp"
#include "net/reduction_rounds.hpp"

namespace nw {

// The result of a round. The holder of the net role writes the result and then publishes `done`.
// Workers read `done` and then the result. The result does not change until all workers have cut
// the next round.
struct GvtResult {
    VirtualTime gvt = 0;
    std::uint32_t generation = 0;  // GVT is the pair (gvt, generation)
    bool quiesced = true;          // no message of the epochs closed before the cut was in flight
    VirtualTime window = time_infinity;
    // Number of generations that may be executed at one time. The first of these generations is
    // `generation` at the time `gvt`, and 0 at later times.
    std::uint32_t generations = 1;
    Contribution sums{};

    EventBound bound() const noexcept { return {gvt, generation}; }
};

class GvtRounds : public ReductionRounds<Contribution, GvtResult> {
  public:
    using Clock = std::chrono::steady_clock;

    // `arrivals`: if true, a rank publishes a result only when it has received all batches that
    // were sent to it before the cuts.
    GvtRounds(Transport& transport, std::uint32_t workers, double interval_ms, WindowControl window,
              bool arrivals);

    // Thread: any worker.
    std::uint32_t opened() const noexcept { return opened_.load(std::memory_order_acquire); }

    // Called by a worker that has nothing to do before the next result: requests a round now.
    void request_round() noexcept { raise(requested_); }
    // Called by a worker that has executed many events since the last round: requests a round. The
    // round is opened when the time since the last round is at least four times the duration of the
    // last reduction. So reductions take at most a fifth of the time.
    void suggest_round() noexcept { raise(suggested_); }

    // Thread: a worker that has cut the open round. Returns whether the worker should take a turn,
    // because the result is published, or because all workers have cut and the reduction can be
    // started.
    bool calls_for(std::uint32_t seen) const noexcept { return done() != seen || has_gathered(); }

    // --- Thread: the holder of the net role ---

    // Returns when the last round was opened.
    Clock::time_point opened_at() const noexcept { return opened_at_; }

    // Returns whether a round is over. Cost: a few loads if there is nothing to do.
    bool step(Clock::time_point now);

    // Restarts the time that the watchdog measures. Called after a period in which no worker could
    // cut.
    void restart_watchdog(Clock::time_point now) noexcept { opened_at_ = now; }

    // Returns the watchdog's message about a round that takes longer than `patience`, once per
    // round. Otherwise returns an empty text.
    std::string overdue(Clock::time_point now, std::chrono::duration<double> patience);

  private:
    static void raise(std::atomic<bool>& flag) noexcept {
        if (!flag.load(std::memory_order_relaxed)) flag.store(true, std::memory_order_relaxed);
    }
    bool is_due(Clock::time_point now) const noexcept;
    void update(const Contribution& sums, GvtResult& result, Clock::time_point now);

    std::chrono::nanoseconds interval_;
    WindowControl window_;

    alignas(64) std::atomic<std::uint32_t> opened_{first_round};
    alignas(64) std::atomic<bool> requested_{false};
    std::atomic<bool> suggested_{false};
    // Used by the holder of the net role.
    Clock::time_point last_done_ = Clock::now();
    Clock::time_point opened_at_ = Clock::now();
    Clock::time_point reducing_since_{};
    Clock::duration last_took_{};                // duration of the last reduction
    std::uint32_t overdue_round_ = first_round;  // the last round that was reported
};

}  // namespace nw
