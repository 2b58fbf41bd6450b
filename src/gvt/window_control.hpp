// How far beyond GVT workers may run. Too far wastes work on what will be rolled back (a peer that
// is descheduled for a time slice costs 10–20× without a bound); too near leaves cores idle.
//
// Driven by the efficiency of the last rounds, from sums that all ranks see alike:
//     below .33 → W/4   below .66 → W/2   above .95 → ×2   else hill climbing by 1 % on the rate
// of committed events. W never grows beyond a few rounds' worth of GVT advance: with an unloaded peer
// nobody gets that far, and with a loaded one it is what limits the damage.
//
// A width in time cannot hold back a chain of zero delays. Events are therefore bounded in generations
// as well, by much the same rule and in every mode: a chain that was cancelled runs ahead of its
// anti-messages by some hops, and would do so for ever where it comes back to LPs whose random counters
// those have just reset.
//
// Thread: the holder of the net role.
#pragma once

#include <cstdint>

#include <numawarp/time.hpp>

#include "gvt/contribution.hpp"

namespace nw {

class WindowControl {
  public:
    static WindowControl off() { return {false, time_infinity}; }
    static WindowControl fixed(VirtualTime width) { return {false, width}; }
    static WindowControl automatic() { return {true, time_infinity}; }

    VirtualTime width() const noexcept { return width_; }
    std::uint32_t generations() const noexcept { return generations_; }

    // After each GVT round. `sums.executed` and `sums.rolled_back` are running totals.
    void update(VirtualTime gvt, const Contribution& sums) noexcept;

  private:
    WindowControl(bool adaptive, VirtualTime width) : adaptive_(adaptive), width_(width) {}

    void steer_width(VirtualTime gvt, double efficiency, double useful,
                     const Contribution& sums) noexcept;
    void steer_generations(double efficiency) noexcept;

    bool adaptive_;  // the width; the generations always are
    VirtualTime width_;
    std::uint32_t generations_ = 64;
    // Totals at the last decision, and its outcome.
    std::uint64_t executed_ = 0;
    std::uint64_t rolled_back_ = 0;
    VirtualTime gvt_ = 0;
    VirtualTime advance_mean_ = 0;  // of GVT, a round
    double useful_last_ = 0;        // net events of the last decision period
    double climb_ = 1.01;           // the direction of the hill climb
};

}  // namespace nw
