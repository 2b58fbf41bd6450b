// SPDX-License-Identifier: Apache-2.0
// The loop of one thread. It takes the turns of workers, lends the thread's own worker, and takes
// workers that other threads lend.
//
// After a turn without work, the thread immediately takes the next turn. After a number of turns
// without work, it yields its core after each turn. After a number of yields, it sleeps until
// another thread wakes it.
//
// sched_yield() costs little if the threads that get the core return it soon, as waiting workers
// do. But a program that never waits keeps the core for a time slice of some milliseconds after
// each yield. Linux (6.18) also takes the rest of the time slice from the thread that yielded. A
// sleeping thread gets the core immediately when it is woken. Therefore, for some time after a
// yield that took long, a thread sleeps instead of yielding.
//
// If workers have the same CPU, the thread of the first of these workers takes the turns of all of
// them. The other threads lend their workers to this thread (engine/carriers.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "engine/carriers.hpp"
#include "engine/sleepers.hpp"
#include "util/check.hpp"
#include "util/counters.hpp"
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

// Turns without work after which a thread yields its CPU; the second value applies if threads share
// CPUs. The yield gives the CPU either to a worker for which other workers wait, or to another
// program, which keeps the CPU for milliseconds.
//
// Measured with PHOLD with 64 LPs on a machine with two cores (2026-11-21). Beside two programs
// that never wait (the row with 64 LPs of `./jobs/run bench --crowded`), two workers that wait 1000
// turns (100 µs) kept a tenth of their speed; with 8 turns, they kept less than a hundredth.
// Without these programs, both values were equally fast. Eight workers on the two cores took twenty
// times as long with 1000 turns as with 8.
inline constexpr std::uint32_t idle_turns_before_yield = 1000;
inline constexpr std::uint32_t idle_turns_before_yield_shared = 8;
// A yield to a waiting worker takes a microsecond. A sleep with its wake-up takes about ten
// microseconds.
inline constexpr std::uint32_t yields_before_sleep = 100;

// Rules: is_over(w) returns whether worker w takes no more turns. shares_cpus() returns whether
// other threads of this run use the CPUs of these threads. carrier(w) returns the thread that
// should take the turns of worker w.
template <class Worker, class Rules>
class TurnLoop {
  public:
    // Requires: all arguments outlive the loop.
    TurnLoop(std::uint32_t self, const std::vector<std::unique_ptr<Worker>>& workers,
             Carriers& carriers, Sleepers& sleepers, const Rules& rules)
        : self_(self), workers_(workers), carriers_(carriers), sleepers_(sleepers), rules_(rules) {}

    // Takes turns until is_over() is true for the worker of this thread. Throws the exceptions of a
    // turn.
    void run() {
        guests_.reserve(workers_.size());  // so that take_guests() cannot fail
        carriers_.set_present(self_, true);
        YieldedCore core;
        std::uint32_t idle_turns = 0;
        while (!rules_.is_over(self_)) {
            const auto now = Clock::now();
            if (now >= next_check_ && check(now)) continue;
            if (take_turns(now)) {
                idle_turns = 0;
                continue;
            }
            const std::uint32_t patience = is_not_carried_ || rules_.shares_cpus()
                                               ? idle_turns_before_yield_shared
                                               : idle_turns_before_yield;
            if (++idle_turns <= patience)
                spin_pause();
            else if (may_sleep() &&
                     (idle_turns > patience + yields_before_sleep || core.is_contended()))
                sleep();
            else
                core.yield();
        }
    }
    // Gives the workers of other threads back. Must be called after run(). If run() has thrown an
    // exception, the exception must be recorded first. Then no thread takes another turn of the
    // worker whose turn has thrown it.
    void leave() noexcept {
        carriers_.set_present(self_, false);
        give_all_back();
    }
    // The time in which the worker of this thread and all guests had nothing to do.
    double asleep_seconds() const noexcept { return asleep_seconds_; }

  private:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds check_interval{1};
    // A thread that has lent its worker checks the rules with this interval.
    static constexpr std::chrono::milliseconds lender_interval{20};
    // If a carrier does not take an offer, it runs a long handler. Then the thread makes no other
    // offer for this time.
    static constexpr std::chrono::milliseconds refused_interval{100};

    Worker& worker(std::uint32_t w) const noexcept { return *workers_[w]; }

    // --- Turns ---

    bool take_turns(Clock::time_point now) {
        bool worked = worker(self_).turn(now);
        if (guests_.empty()) [[likely]]
            return worked;
        for (std::size_t i = 0; i < guests_.size();) {
            const std::uint32_t w = guests_[i];
            if (carriers_.is_recalled(w) || worker(w).needs_own_thread() || rules_.is_over(w)) {
                give_back(w);
                guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(i));
                worked = true;
                continue;
            }
            enter(w);
            worked |= worker(w).turn(Clock::now(), true);
            ++worker(w).counters()[Counter::carried_turns];
            ++i;
        }
        enter(self_);
        return worked;
    }

    // Makes the thread take the turns of worker w from now on.
    void enter(std::uint32_t w) noexcept {
        worker(w).executor().make_current();
        error_context().worker = w;
    }

    bool may_sleep() const noexcept {
        return sleepers_.may_sleep(self_) && worker(self_).may_sleep() &&
               std::ranges::all_of(guests_,
                                   [this](std::uint32_t w) { return worker(w).may_sleep(); });
    }

    void sleep() {
        const auto begun = Clock::now();
        const auto set_horizon = [this](std::uint32_t w) {
            sleepers_.set_horizon(w, worker(w).horizon());
        };
        set_horizon(self_);
        std::ranges::for_each(guests_, set_horizon);
        sleepers_.sleep(self_, [this] {
            return worker(self_).has_work() || carriers_.offers(self_) != offers_seen_ ||
                   std::ranges::any_of(guests_, [this](std::uint32_t w) {
                       return carriers_.is_recalled(w) || worker(w).has_work();
                   });
        });
        worker(self_).note_slept();
        for (const std::uint32_t w : guests_) worker(w).note_slept();
        next_check_ = Clock::now();
        asleep_seconds_ += std::chrono::duration<double>(next_check_ - begun).count();
    }

    // --- Loans ---

    // Takes the workers that other threads have offered, and lends the own worker if the rules
    // require it. Returns whether the own worker was lent. The worker is back when the function
    // returns.
    bool check(Clock::time_point now) {
        next_check_ = now + check_interval;
        if (const std::uint32_t offers = carriers_.offers(self_); offers != offers_seen_) {
            offers_seen_ = offers;
            take_guests();
        }
        const std::uint32_t carrier = rules_.carrier(self_);
        const bool lends = carrier != self_ && now >= next_offer_ &&
                           carriers_.is_present(carrier) && !worker(self_).needs_own_thread();
        is_not_carried_ = carrier != self_ && !lends;
        if (lends) lend_to(carrier);
        return lends;
    }

    void lend_to(std::uint32_t carrier) {
        give_all_back();
        worker(self_).executor().leave_thread();
        carriers_.offer(self_, carrier);
        sleepers_.wake_thread(carrier);
        bool is_refused = false;
        while (!carriers_.await(self_, lender_interval)) {
            if (!carriers_.is_offered(self_) && rules_.carrier(self_) == carrier) continue;
            is_refused = carriers_.recall(self_);
            if (!is_refused) sleepers_.wake_thread(carrier);
        }
        worker(self_).executor().join_thread();
        error_context().worker = self_;
        next_check_ = Clock::now();
        next_offer_ = next_check_ + (is_refused ? refused_interval : check_interval);
    }

    void take_guests() noexcept {
        for (std::uint32_t w = 0; w < carriers_.workers(); ++w) {
            if (!carriers_.take(w, self_)) continue;
            guests_.push_back(w);
            worker(w).executor().join_thread();
        }
        enter(self_);
    }

    void give_back(std::uint32_t w) noexcept {
        worker(w).executor().leave_thread();
        carriers_.give_back(w);
    }
    void give_all_back() noexcept {
        if (guests_.empty()) return;
        for (const std::uint32_t w : guests_) give_back(w);
        guests_.clear();
        enter(self_);
    }

    const std::uint32_t self_;
    const std::vector<std::unique_ptr<Worker>>& workers_;
    Carriers& carriers_;
    Sleepers& sleepers_;
    const Rules& rules_;
    std::vector<std::uint32_t> guests_;  // workers of other threads whose turns this thread takes
    std::uint32_t offers_seen_ = 0;
    Clock::time_point next_check_{};
    Clock::time_point next_offer_{};
    // The rules name another thread for the own worker, but the own worker is not lent.
    bool is_not_carried_ = false;
    double asleep_seconds_ = 0;
};

}  // namespace nw
