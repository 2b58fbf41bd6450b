// SPDX-License-Identifier: Apache-2.0
// Stores which thread of a rank takes the turns of each worker.
//
// Thread w is the own thread of worker w. It takes the worker's turns, unless it has lent the
// worker to another thread, the carrier. If more threads than CPUs took turns, the kernel would
// interrupt some of the threads for milliseconds, and all other workers would wait for a GVT that
// cannot advance. A carrier takes a turn of each of its workers in sequence (docs/decisions/0045).
//
//     own thread   offers its worker to a carrier, then sleeps; withdraws an offer that was not
//                  taken; recalls a worker that was taken
//     carrier      takes an offered worker, and gives it back between two turns
//
// A thread that begins to take a worker's turns may read everything that the previous thread has
// written: each store of Loan::state is at least a release, and the last access of Loan::state
// before a thread takes a turn is at least an acquire.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "numa/os/wake_signal.hpp"

namespace nw {

class Carriers {
  public:
    explicit Carriers(std::uint32_t workers);

    std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(loans_.size()); }
    // The thread that takes the worker's turns or, while the worker is offered, the thread to which
    // it is offered. Thread: any.
    std::uint32_t thread_of(std::uint32_t w) const noexcept {
        return loans_[w].state.load() & thread_mask;
    }

    // Whether a thread takes turns now. Only such a thread reads its offers. Thread: the thread
    // itself sets the value, and any thread reads it.
    void set_present(std::uint32_t thread, bool present) noexcept {
        loans_[thread].is_present.store(present, std::memory_order_relaxed);
    }
    bool is_present(std::uint32_t thread) const noexcept {
        return loans_[thread].is_present.load(std::memory_order_relaxed);
    }

    // --- Thread: the own thread of worker w ---

    // Requires: is_back(w). The caller then wakes the carrier.
    void offer(std::uint32_t w, std::uint32_t carrier) noexcept;
    // If no carrier has taken the worker, withdraws the offer and returns true. Otherwise requests
    // the worker from its carrier and returns false; the caller then wakes the carrier.
    bool recall(std::uint32_t w) noexcept;
    // Whether this thread takes the worker's turns.
    bool is_back(std::uint32_t w) const noexcept {
        return loans_[w].state.load(std::memory_order_acquire) == w;
    }
    // Whether the carrier has not taken the worker yet.
    bool is_offered(std::uint32_t w) const noexcept {
        return (loans_[w].state.load(std::memory_order_relaxed) & offered) != 0;
    }
    // Sleeps until the worker is given back, at most for `longest`. Returns is_back(w).
    bool await(std::uint32_t w, std::chrono::nanoseconds longest);

    // --- Thread: the carrier ---

    // The number of offers that this thread has received so far.
    std::uint32_t offers(std::uint32_t carrier) const noexcept {
        return loans_[carrier].offers.load();
    }
    // Takes worker w if it is offered to this carrier. Returns whether the carrier has taken it.
    bool take(std::uint32_t w, std::uint32_t carrier) noexcept;
    bool is_recalled(std::uint32_t w) const noexcept { return loans_[w].is_recalled.load(); }
    // Requires: this thread has taken the worker.
    void give_back(std::uint32_t w) noexcept;

  private:
    static constexpr std::uint32_t thread_mask = 0xFFFF;
    // Flags of Loan::state. Without a flag, the own thread takes the turns.
    static constexpr std::uint32_t offered = 1u << 16;
    static constexpr std::uint32_t taken = 1u << 17;

    struct alignas(64) Loan {
        std::atomic<std::uint32_t> state;  // the result of thread_of(), with a flag
        std::atomic<bool> is_recalled{false};
        WakeSignal given_back;
        std::atomic<std::uint32_t> offers{0};  // number of offers to the thread
        std::atomic<bool> is_present{false};   // whether the thread takes turns
    };
    std::vector<Loan> loans_;  // element w: worker w and thread w
};

}  // namespace nw
