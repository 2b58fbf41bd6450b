// Whether running ahead of what is certain pays, found by trying. Up to GVT plus the lookahead nothing is ever
// rolled back, and where the engine knows that, nothing is kept for it either (worker/safe_horizon.hpp); but workers
// wait for each other once a lookahead. Beyond it cores are busy with what may be rolled back. Which of
// the two commits more depends on the model, on how dear its rollbacks are, and on who else uses the cores. So
// both are measured in turn, in events committed in a second of wall time, and the better one is kept for a
// while, the longer the more often it has won.
//
// Thread: the holder of the net role. All ranks feed it alike, and decide alike.
#pragma once

#include <cstdint>

#include <numawarp/time.hpp>

namespace nw {

class WindowTrials {
  public:
    // Without trials no window ever ends with the lookahead.
    explicit WindowTrials(bool on) noexcept : is_on_(on), within_lookahead_(on) {}

    // The window is to end with the lookahead, until update() says otherwise.
    bool within_lookahead() const noexcept { return within_lookahead_; }

    // After each GVT round. `ns`: on a clock that is the same for all ranks; `committed`: events so far; `lead`:
    // how far workers have been. Returns whether within_lookahead() has changed.
    bool update(std::uint64_t ns, std::uint64_t committed, VirtualTime gvt,
                VirtualTime lead) noexcept;

  private:
    // `here` is the window that was kept so far, `there` the other one.
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
    std::uint64_t left_at_ = 0;    // when the other window began to be tried
    VirtualTime settled_at_ = 0;   // GVT, when what was executed under the other window is final
    std::uint64_t since_ = 0;      // when it began
    std::uint64_t committed_ = 0;  // then
    std::uint64_t stay_ns_ = 0;
    std::uint32_t wins_ = 0;  // of what is kept, one after another
    double rate_here_ = 0;    // events in a nanosecond
};

}  // namespace nw
