// A rank's half of the GVT algorithm: opens rounds, gathers its workers' cuts, reduces them over the
// ranks, publishes the result (docs/gvt.md). No worker waits in it: a round is advanced a step at a
// time by whichever worker holds the rank's net role.
//
//     opened == done           no round under way
//     opened == done + 1       workers cut, each in its own time; then one reduction
//     seen(worker) ≤ done ≤ opened ≤ seen(worker) + 1
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "gvt/contribution.hpp"
#include "gvt/window_control.hpp"
#include "net/counted_reduction.hpp"

namespace nw {

// What a finished round says. Written by the holder of the net role before `done` is published, read
// by workers after they saw `done`; stable until all of them have cut the next round.
struct GvtResult {
    VirtualTime gvt = 0;
    std::uint32_t generation = 0;  // of the earliest event at GVT
    bool quiesced = true;          // nothing of the epochs before the cut was in flight
    VirtualTime window = time_infinity;
    std::uint32_t generations = 1;  // how many may run, at GVT itself beyond `generation`
    Contribution sums;

    EventBound bound() const noexcept { return {gvt, generation}; }
};

class GvtRounds {
  public:
    using Clock = std::chrono::steady_clock;

    using Part = CountedReduction<Contribution>::Part;

    // `arrivals`: a result is known on a rank only when what was sent to it before the cuts has arrived.
    GvtRounds(Transport& transport, std::uint32_t workers, double interval_ms, WindowControl window,
              bool arrivals);

    // Thread: any worker.
    std::uint32_t opened() const noexcept { return opened_.load(std::memory_order_acquire); }
    std::uint32_t done() const noexcept { return done_.load(std::memory_order_acquire); }
    const GvtResult& result() const noexcept { return result_; }

    // A worker that has nothing to do before the next result asks for it now.
    void want_round() noexcept { raise(wanted_); }
    // A worker that has executed much since the last round asks for the next one, when that costs little: not
    // before so much time has passed that reductions over the ranks take a fifth of it.
    void suggest_round() noexcept { raise(suggested_); }

    // Thread: worker w, once a round, after it filled slot(w).
    Part& slot(std::uint32_t worker) noexcept { return slots_[worker]; }
    void arrive(std::uint32_t worker) noexcept {
        slots_[worker].arrivals.fetch_add(1, std::memory_order_relaxed);
        arrived_.fetch_add(1);
    }

    // Thread: a worker that has cut the open round. Whether it is to take a turn: for the result, or
    // because it may have been the last to cut.
    bool calls_for(std::uint32_t seen) const noexcept {
        return done_.load() != seen || arrived_.load() == workers_;
    }

    // Thread: the holder of the net role. All ranks have contributed, and batches for this one are under way.
    bool is_receiving() const noexcept { return reduction_.is_receiving(); }

    // Thread: the holder of the net role. Whether all workers have cut the round that is open and
    // step() will now reduce it: until then, none of them learns its result.
    bool gathered() const noexcept {
        return !reduction_.is_under_way() && opened() != done_.load(std::memory_order_relaxed) &&
               arrived_.load(std::memory_order_acquire) == workers_;  // pairs with arrive()
    }

    // Thread: the holder of the net role. When the last round was opened.
    Clock::time_point opened_at() const noexcept { return opened_at_; }

    // Thread: the holder of the net role. A batch has come that was sent in that epoch.
    void receive(std::uint32_t epoch) noexcept { reduction_.receive(epoch); }

    // Thread: the holder of the net role. Cost: a few loads when nothing is due.
    void step(Clock::time_point now);

    // Nobody could cut: the watchdog's patience begins anew. Thread: the holder of the net role.
    void restart_watchdog(Clock::time_point now) noexcept { opened_at_ = now; }

    // The watchdog's words about a round that does not end, once a round: who has not cut, or that
    // other ranks are waited for, and what was in flight. Empty while the round is young.
    std::string overdue(Clock::time_point now, std::chrono::duration<double> patience);

  private:
    static void raise(std::atomic<bool>& flag) noexcept {
        if (!flag.load(std::memory_order_relaxed)) flag.store(true, std::memory_order_relaxed);
    }
    bool is_due(Clock::time_point now) const noexcept;
    void publish(const Contribution& sums, Clock::time_point now);

    struct alignas(64) Slot : Part {
        std::atomic<std::uint32_t> arrivals{first_round};  // rounds this worker has cut
    };

    Transport& transport_;
    std::uint32_t workers_;
    CountedReduction<Contribution> reduction_;  // the net role's
    std::chrono::nanoseconds interval_;
    WindowControl window_;

    alignas(64) std::atomic<std::uint32_t> opened_{first_round};
    std::atomic<std::uint32_t> done_{first_round};
    GvtResult result_;
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    std::atomic<bool> wanted_{false};
    std::atomic<bool> suggested_{false};
    std::vector<Slot> slots_;
    // The net role's own.
    Clock::time_point last_done_ = Clock::now();
    Clock::time_point opened_at_ = Clock::now();
    Clock::time_point reducing_since_{};
    Clock::duration last_took_{};                // the last reduction
    std::uint32_t overdue_round_ = first_round;  // the last that was complained about
};

}  // namespace nw
