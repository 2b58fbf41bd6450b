// SPDX-License-Identifier: Apache-2.0
// Decides by trials whether workers execute beyond GVT plus the lookahead. Events up to this time
// are never rolled back. For the safe events among these events, no history is kept
// (engine/timewarp/worker/safe_horizon.hpp). But workers wait for each other once per lookahead. If
// workers execute beyond this time, cores stay busy, but work may be rolled back. Which of the two
// windows is better depends on the model, on the cost of its rollbacks and on other users of the
// cores. Therefore both windows are measured in turn, in committed events per second of wall time.
// The better window is kept for some time, and for a longer time if it wins again.
//
// Thread: the holder of the net role. All ranks pass equal values and so make equal decisions.
#pragma once

#include <cstdint>

#include <numawarp/time.hpp>

namespace nw {

class WindowTrials {
  public:
    // If `on` is false, there are no trials, and the window never ends at GVT plus the lookahead.
    explicit WindowTrials(bool on) noexcept : is_on_(on), within_lookahead_(on) {}

    // Whether the window ends at GVT plus the lookahead. Only update() changes it.
    bool within_lookahead() const noexcept { return within_lookahead_; }

    // Called after each GVT round. `ns`: the time of a clock that is the same for all ranks.
    // `committed`: the number of events that are committed so far. `lead`: time of the latest
    // executed event. Returns whether within_lookahead() has changed.
    bool update(std::uint64_t ns, std::uint64_t committed, VirtualTime gvt,
                VirtualTime lead) noexcept;

  private:
    // `here` is the window that is kept, `there` is the other window.
    enum class Phase : std::uint8_t {
        starting,
        staying,
        measuring_here,
        settling,
        measuring_there
    };

    void begin(Phase phase, std::uint64_t ns, std::uint64_t committed) noexcept;
    double rate(std::uint64_t ns, std::uint64_t committed) const noexcept;

    bool is_on_;
    bool within_lookahead_;
    Phase phase_ = Phase::starting;
    std::uint64_t left_at_ = 0;    // when the trial of the other window began
    VirtualTime settled_at_ = 0;   // GVT when all events of the previous window are final
    std::uint64_t since_ = 0;      // start of the phase
    std::uint64_t committed_ = 0;  // at the start of the phase
    std::uint64_t stay_ns_ = 0;
    std::uint32_t wins_ = 0;  // trials in a row that the kept window has won
    double rate_here_ = 0;    // events per nanosecond
};

}  // namespace nw
