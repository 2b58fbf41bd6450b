// SPDX-License-Identifier: Apache-2.0
// Computes how far beyond GVT workers may execute. If workers execute too far ahead, work is rolled
// back: without a bound, a run takes 10–20 times as long if a worker is descheduled for a time
// slice. If workers do not execute far enough ahead, cores are idle.
//
// The window follows the efficiency, the share of executed events that were not rolled back. All
// ranks compute the same window from equal sums. A width W is judged when GVT has passed all events
// that were executed before W was set. Since W was set, E events were executed and R events were
// rolled back. When W was set, U events were uncommitted. If R - U ≥ E/2, W is judged earlier. A
// judgment changes W by the efficiency:
//     below .96: W · max(¼, efficiency²)      above .98, if workers have used half of W: W · 1.25
// In most measurements, the best fixed width has an efficiency between .93 and .99 (2 to 8 workers
// on two cores, with and without other processes on these cores; docs/decisions/0021). Only the
// minimum of the width is computed from the advance of GVT per round. If workers wait for cores,
// GVT advances by W per round, and a width that was always set to this advance would never grow
// again.
//
// The efficiency does not always limit the width. If workers send each other few events, one worker
// may execute ahead while another worker waits for a core. The first worker then stays ahead by W,
// and nothing is rolled back. In this case a wider window takes memory and does not make the run
// faster. Therefore the number of uncommitted events has a bound: 65,536 per worker or two per LP,
// whichever is more. W grows only below this bound, and shrinks above it.
//
// If the model has a lookahead, this window alternates in trials with a window that ends at GVT
// plus the lookahead (window_trials.hpp).
//
// A width in time does not bound a chain of zero delays. So the number of generations at one time
// is bounded, too. This bound also follows the efficiency. It applies to every run, also to a run
// with a fixed window or without a window. The reason: a canceled chain is some events ahead of its
// anti-messages. The chain may return to LPs whose random counters the anti-messages have just
// restored. Without a bound, the chain could then stay ahead of the anti-messages without end.
//
// Thread: the holder of the net role.
#pragma once

#include <cstdint>

#include <numawarp/time.hpp>

#include "gvt/contribution.hpp"
#include "gvt/window_trials.hpp"

namespace nw {

class WindowControl {
  public:
    static WindowControl off() { return {false, time_infinity, 0, 0, 0}; }
    static WindowControl fixed(VirtualTime width) { return {false, width, 0, 0, 0}; }
    // `lps`: the number of LPs of the model. `workers`: the number of workers of all ranks.
    // `lookahead`: the model's lookahead, or 0 if a window that ends at GVT plus the lookahead has
    // no advantage.
    static WindowControl automatic(VirtualTime lookahead, std::uint32_t lps,
                                   std::uint64_t workers) {
        return {true, time_infinity, lookahead, lps, workers};
    }

    VirtualTime width() const noexcept { return trials_.within_lookahead() ? lookahead_ : width_; }
    std::uint32_t generations() const noexcept { return generations_; }

    // Called if the run continues from a checkpoint with this GVT. The first advance of GVT is
    // measured from this time.
    void begin_at(VirtualTime gvt) noexcept { gvt_ = gvt; }
    // Called after each GVT round. `sums.executed`, `rolled_back` and `committed` are totals since
    // the start.
    void update(VirtualTime gvt, const Contribution& sums) noexcept;

  private:
    WindowControl(bool adaptive, VirtualTime width, VirtualTime lookahead, std::uint32_t lps,
                  std::uint64_t workers);
    void begin_span(const Contribution& sums) noexcept;
    void adapt_width(VirtualTime gvt, const Contribution& sums) noexcept;
    void set_width_for(double efficiency) noexcept;
    void set_generations_for(double efficiency) noexcept;

    bool adaptive_;  // whether the width adapts; the number of generations always adapts
    VirtualTime width_;
    VirtualTime lookahead_;
    double least_events_;
    double most_events_;
    WindowTrials trials_;
    std::uint32_t generations_ = 64;
    VirtualTime gvt_ = 0;
    // Means per round. committed_mean_ / advance_mean_ is the density of events in virtual time.
    VirtualTime advance_mean_ = 0;
    double committed_mean_ = 0;
    std::uint64_t committed_ = 0;
    VirtualTime judged_from_ = 0;    // Contribution::lead at the last judgment
    std::uint64_t uncommitted_ = 0;  // uncommitted events at the last judgment
    // Since the last judgment:
    VirtualTime used_ = 0;    // maximum distance of a worker from GVT
    std::uint64_t held_ = 0;  // maximum number of uncommitted events
    // Counts the events since the last judgment of the width, or of the number of generations.
    class Span {
      public:
        explicit Span(const Contribution& sums) noexcept
            : executed_(sums.executed), rolled_back_(sums.rolled_back) {}
        Span() = default;
        std::uint64_t executed(const Contribution& now) const noexcept {
            return now.executed - executed_;
        }
        std::uint64_t rolled_back(const Contribution& now) const noexcept {
            return now.rolled_back - rolled_back_;
        }

      private:
        std::uint64_t executed_ = 0;
        std::uint64_t rolled_back_ = 0;
    };
    Span width_span_;
    Span generations_span_;
};

}  // namespace nw
