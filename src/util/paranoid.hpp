// SPDX-License-Identifier: Apache-2.0
// Defines which invariants the `paranoid` preset checks, and when. Each structure with an invariant
// has a function validate(), which throws InternalError. Tests call it freely. A run calls it
//
//     after an event, a rollback,    for the LP: its record, its saved states, the newest entries
//     a commit, an anti-message      of its history, and the events that these entries sent
//     after one in 16 of these       for the whole LP: every entry of its history, its heap
//     at the end of each turn        for data that is empty between turns, and related counts
//     at the end of a turn that is   for everything of the worker: its lists, its groups with
//     the first with a new GVT, if   their memory and mail, all LPs, all pending events
//     a walk is due
//
// The validation in the last row is called a walk. The sequential and the conservative engine have
// no rollbacks. Their executors check whether a walk is due when they check their use of memory. In
// these engines, a walk validates everything of the executor.
//
// A walk is due when the number of changes since the last walk reaches a quarter of the number of
// objects that the last walk visited. Walks therefore take a constant share of the run, whatever
// the size of the model. The rule counts changes and does not use the clock, so that a stepped run
// can be repeated exactly.
#pragma once

#include <cstdint>

namespace nw {

#ifdef NUMAWARP_PARANOID
inline constexpr bool paranoid = true;
#else
inline constexpr bool paranoid = false;
#endif

class WalkPace {
  public:
    // Counts one change. Returns whether the LP must be validated as a whole.
    bool count_change() noexcept { return ++changes_ % changes_a_whole_lp == 0; }
    void count_changes(std::uint64_t changes) noexcept { changes_ += changes; }

    bool is_due() const noexcept { return changes_ >= due_at_; }
    void walked(std::uint64_t things) noexcept { due_at_ = changes_ + things / things_a_change; }

  private:
    static constexpr std::uint64_t changes_a_whole_lp = 16;
    static constexpr std::uint64_t things_a_change = 4;

    std::uint64_t changes_ = 0;
    std::uint64_t due_at_ = 0;
};

}  // namespace nw
