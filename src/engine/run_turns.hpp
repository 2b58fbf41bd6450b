// SPDX-License-Identifier: Apache-2.0
// Runs a worker's turns. After a turn without work, the worker takes the next turn at once. After a
// number of turns without work, it yields its core after each turn. After a number of yields, it
// sleeps until another thread wakes it.
//
// sched_yield() costs little if the threads that get the core return it soon, as waiting workers
// do. But a program that never waits keeps the core for a time slice each time, which is
// milliseconds. Linux (6.18) also takes the rest of the time slice from the thread that yielded. A
// sleeping thread gets the core at once when it is woken. Therefore, after a yield that took long,
// a worker sleeps instead of yielding for a while.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "util/locks.hpp"

namespace nw {

// Detects whether another program competes for this thread's core.
class YieldedCore {
  public:
    using Clock = std::chrono::steady_clock;

    void yield() noexcept {
        const auto begun = Clock::now();
        std::this_thread::yield();
        const auto ended = Clock::now();
        if (ended - begun > taken_by_others) contended_until_ = ended + 50 * (ended - begun);
    }
    // Whether a recent yield took longer than any turn of a worker of this run.
    bool is_contended() const noexcept { return Clock::now() < contended_until_; }

  private:
    static constexpr std::chrono::milliseconds taken_by_others{1};
    Clock::time_point contended_until_{};
};

// Turns without work after which a worker yields its CPU; the second value applies if workers share
// CPUs. The thread that waits for the CPU may be a worker for which the others wait, or another
// program, which keeps the CPU for milliseconds.
//
// Measured with PHOLD with 64 LPs on a machine with two cores (2026-11-21). Beside two programs
// that never wait (`./jobs/run bench --crowded`, its row with 64 LPs), two workers that wait 1000
// turns (100 µs) kept a tenth of their speed; with 8 turns, they kept less than a hundredth.
// Without these programs, both values were equally fast. Eight workers on the two cores took twenty
// times as long with 1000 turns as with 8.
inline constexpr std::uint32_t idle_turns_before_yield = 1000;
inline constexpr std::uint32_t idle_turns_before_yield_shared = 8;
// A yield to a waiting worker takes a microsecond. A sleep with its wake-up takes about ten
// microseconds.
inline constexpr std::uint32_t yields_before_sleep = 100;

// Thread: the worker's. worker.turn() returns whether it did any work. worker.sleep() is called
// after turns without work, if worker.may_sleep().
template <class Worker, class IsOver, class SharesCpu>
void run_turns(Worker& worker, IsOver&& is_over, SharesCpu&& shares_cpu) {
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
                 (idle_turns > patience + yields_before_sleep || core.is_contended()))
            worker.sleep();
        else
            core.yield();
    }
}

}  // namespace nw
