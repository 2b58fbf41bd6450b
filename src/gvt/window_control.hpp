// How far beyond GVT workers may run. Too far wastes work on what will be rolled back (a peer that
// is descheduled for a time slice costs 10–20× without a bound); too near leaves cores idle.
//
// Driven by efficiency, the share of executed events that were not rolled back, from sums that all ranks
// see alike. A width is judged when GVT has passed everything that was executed before it stood, or as
// soon as more than half of what was executed since must have been rolled back:
//     below .96 → W · max(¼, efficiency²)      above .98, and the workers have used it → W · 1.25
// The best fixed width mostly lies at an efficiency between .93 and .99, for 2 to 8 workers on two cores
// with and without foreign processes beside them (docs/decisions/0021). What the
// width does not follow is the advance of GVT: where workers wait for cores GVT advances by the width a
// round, and a width that follows it never grows again.
//
// Efficiency does not bound it everywhere: where workers send each other little, one that has got ahead while
// another waited for a core stays ahead, by the whole width, and nothing is rolled back. Wider is then no faster, and
// takes memory. So it grows only until it holds 65,536 events for each worker, or two for each LP.
//
// Where the model has a lookahead, a window that ends with it is tried in turn with that (window_trials.hpp).
//
// A width in time cannot hold back a chain of zero delays. Events are therefore bounded in generations
// as well, by efficiency, too, and in every mode: a chain that was cancelled runs ahead of its
// anti-messages by some hops, and would do so for ever where it comes back to LPs whose random counters
// those have just reset.
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
    // `lps`: of the model; `workers`: of all ranks. `lookahead`: the model's, or 0 where it makes no difference whether
    // a window ends with it.
    static WindowControl automatic(VirtualTime lookahead, std::uint32_t lps,
                                   std::uint64_t workers) {
        return {true, time_infinity, lookahead, lps, workers};
    }

    VirtualTime width() const noexcept { return trials_.within_lookahead() ? lookahead_ : width_; }
    std::uint32_t generations() const noexcept { return generations_; }

    // The run continues from a checkpoint at that GVT, from which the first advance is measured.
    void begin_at(VirtualTime gvt) noexcept { gvt_ = gvt; }
    // After each GVT round. `sums.executed`, `rolled_back` and `committed` are running totals.
    void update(VirtualTime gvt, const Contribution& sums) noexcept;

  private:
    WindowControl(bool adaptive, VirtualTime width, VirtualTime lookahead, std::uint32_t lps,
                  std::uint64_t workers);
    void begin_judging(const Contribution& sums) noexcept;
    void judge_width(VirtualTime gvt, const Contribution& sums) noexcept;
    void steer_width(double efficiency) noexcept;
    void steer_generations(double efficiency) noexcept;

    bool adaptive_;  // the width; the generations always are
    VirtualTime width_;
    VirtualTime lookahead_;
    double least_events_;
    double most_events_;
    WindowTrials trials_;
    std::uint32_t generations_ = 64;
    VirtualTime gvt_ = 0;
    // Means a round; their ratio is the density of events in virtual time.
    VirtualTime advance_mean_ = 0;
    double committed_mean_ = 0;
    std::uint64_t committed_ = 0;
    VirtualTime judged_from_ = 0;    // what had been executed at the last judgement lay before this
    std::uint64_t uncommitted_ = 0;  // at that judgement
    // Since then:
    VirtualTime used_ = 0;    // how far beyond GVT workers have been
    std::uint64_t held_ = 0;  // uncommitted events, at most
    // Events since the last decision about each.
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
