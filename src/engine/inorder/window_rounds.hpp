// SPDX-License-Identifier: Apache-2.0
// A rank's part of the reduction after each window. It gathers the values that the rank's workers
// write at their cuts, and reduces them over all ranks, together with the number of batches sent to
// each rank (net/counted_reduction.hpp). It publishes the result when all batches for this rank
// have arrived. So a worker that reads the result has everything that was sent before any worker's
// cut.
//
// Batches carry the window in which they were sent, modulo 2^32.
//
// Thread: a worker calls slot() and arrive(). The holder of the net role calls step(), receive(),
// waiting_for(), is_under_way() and is_receiving(). Any worker calls done() and result().
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/inorder/window_sums.hpp"
#include "net/counted_reduction.hpp"

namespace nw {

class WindowRounds {
  public:
    struct alignas(64) Slot : CountedReduction<WindowSums>::Part {};

    WindowRounds(Transport& transport, std::uint32_t workers, std::uint32_t first_window);

    // Requires: the worker has read the result of every window that it has cut.
    Slot& slot(std::uint32_t w) noexcept { return slots_[w]; }
    // The content of the worker's slot is final. Returns whether all workers have arrived; then a
    // thread must call step().
    bool arrive() noexcept {
        return arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers();
    }

    // A batch that was sent in this window has arrived.
    void receive(std::uint32_t window) noexcept { reduction_.receive(window); }

    // Describes what the present round is waiting for.
    std::string waiting_for() const;

    // Whether this rank has contributed to a round whose result it does not have.
    bool is_under_way() const noexcept { return reduction_.is_under_way(); }
    // Whether all ranks have contributed, but batches for this rank are still under way.
    bool is_receiving() const noexcept { return reduction_.is_receiving(); }

    // Advances the round as far as possible without waiting. Returns whether there is a new result.
    bool step();

    // The number of the first window whose result is not known yet (counted from first_window).
    // result() belongs to the window before it, and is valid until the worker that reads it arrives
    // again.
    std::uint32_t done() const noexcept {
        return done_.load();  // pairs with the store in step(), also before a sleep (WakeSignal)
    }
    const WindowSums& result() const noexcept { return result_; }

  private:
    std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }

    Transport& transport_;
    std::vector<Slot> slots_;
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> done_;
    WindowSums result_;
    CountedReduction<WindowSums> reduction_;  // accessed only by the holder of the net role
};

}  // namespace nw
