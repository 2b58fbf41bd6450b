// A worker's turns, and what it does between two of them when there was nothing to do: it looks again at once, then
// gives its core away and looks whenever it has it, and then sleeps until somebody has something for it.
//
// sched_yield() costs little where those who get the core give it back soon, as workers do that wait, too. But a
// program that never waits keeps it for a time slice, milliseconds, each time; and Linux (6.18) takes the rest
// of its own slice from who yielded. Who sleeps gets the core at once when he is woken. So whoever sees
// that a yield took long sleeps instead, for a while.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/spin_lock.hpp"

namespace nw {

// Whether some other program wants this thread's core.
class YieldedCore {
  public:
    using Clock = std::chrono::steady_clock;

    void yield() noexcept {
        const auto begun = Clock::now();
        std::this_thread::yield();
        const auto ended = Clock::now();
        if (ended - begun > taken_by_others) keep_until_ = ended + 50 * (ended - begun);
    }
    // A yield has lately taken longer than any turn of a worker of ours.
    bool is_wanted_by_others() const noexcept { return Clock::now() < keep_until_; }

  private:
    static constexpr std::chrono::milliseconds taken_by_others{1};
    Clock::time_point keep_until_{};
};

// Turns without work after which a worker gives its CPU away, should others need it. Who waits
// there may be one of ours, and then it is the one that is waited for; or some other program, which
// keeps the CPU for milliseconds. On a machine with two cores (2026-11-21) PHOLD with 64 LPs beside
// two such programs (`./jobs/run bench --crowded`, its row with 64 LPs) kept a tenth of its speed with
// two workers that wait 1000 turns (100 µs), less than a hundredth with 8; alone it was as fast with
// both. Eight workers on the two cores took twenty times as long with 1000 as with 8.
inline constexpr std::uint32_t idle_turns_before_yield = 1000;
inline constexpr std::uint32_t idle_turns_before_yield_shared = 8;
// A yield to a worker that waits takes a microsecond; a sleep, and being woken from it, some ten.
inline constexpr std::uint32_t yields_before_sleep = 100;

// Thread: the worker's. worker.turn() returns whether anything was done; worker.sleep() after turns in which nothing was,
// if worker.may_sleep().
template <class Worker, class IsOver, class SharesCpu>
void take_turns(Worker& worker, IsOver&& is_over, SharesCpu&& shares_cpu) {
    YieldedCore core;
    std::uint32_t idle_turns = 0;
    while (!is_over()) {
        if (worker.turn()) {
            idle_turns = 0;
            continue;
        }
        const std::uint32_t patience =
            shares_cpu() ? idle_turns_before_yield_shared : idle_turns_before_yield;
        if (++idle_turns <= patience)
            spin_pause();
        else if (worker.may_sleep() &&
                 (idle_turns > patience + yields_before_sleep || core.is_wanted_by_others()))
            worker.sleep();
        else
            core.yield();
    }
}

}  // namespace nw
