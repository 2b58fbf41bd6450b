// A rank's half of the reduction after each window: gathers what its workers lay down at their cuts, has it
// reduced over all ranks together with the number of batches that each rank was sent (net/counted_reduction.hpp), and makes the result
// known as soon as those that were sent to this rank have arrived. So who learns it has everything that was
// sent before anybody's cut.
//
// Batches carry the window in which they were sent, modulo 2^32.
//
// Thread: slot() and arrive() a worker's; step(), receive() and waiting_for() the holder of the net role; done() and
// result() any worker's.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "inorder/window_sums.hpp"
#include "net/counted_reduction.hpp"

namespace nw {

class WindowRounds {
  public:
    struct alignas(64) Slot : CountedReduction<WindowSums>::Part {};

    WindowRounds(Transport& transport, std::uint32_t workers, std::uint32_t first_window);

    // Requires: the worker has learnt the result of every window that it has cut.
    Slot& slot(std::uint32_t w) noexcept { return slots_[w]; }
    // What stands in the slot is final. Returns whether all have arrived: then somebody must step().
    bool arrive() noexcept {
        return arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers();
    }

    // A batch has come that was sent in that window.
    void receive(std::uint32_t window) noexcept { reduction_.receive(window); }

    // What the round that is not done is waiting for, in words.
    std::string waiting_for() const;

    // All ranks have contributed, and batches for this one are under way.
    bool is_receiving() const noexcept { return reduction_.is_receiving(); }

    // Moves the round on as far as it goes without waiting. Returns whether there is a new result.
    bool step();

    // The number of the window (from first_window on) whose result is not known yet. The result is that of the one before, and
    // stands until the worker that reads it arrives again.
    std::uint32_t done() const noexcept {
        return done_.load();  // pairs with the store in step(), also for who sleeps (Bell)
    }
    const WindowSums& result() const noexcept { return result_; }

  private:
    std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }

    Transport& transport_;
    std::vector<Slot> slots_;
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> done_;
    WindowSums result_;
    CountedReduction<WindowSums> reduction_;  // the net role's alone
};

}  // namespace nw
