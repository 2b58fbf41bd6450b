// What the `paranoid` preset walks, and when. Every structure that can be wrong has a validate(),
// which throws InternalError; tests call it freely, and this is the rule for runs:
//
//     after an event, a rollback,        the LP: its record, its saved states, the newest entries of its
//     a commit, an anti-message          history and what they sent
//     after one in 16 of these           all of that LP: every entry of its history, its heap
//     at the end of each turn            what is empty between turns, and counts that belong together
//     there, when a new GVT is known     everything of the worker: its lists, its groups with their
//     and a walk is due                  memory and mail, all LPs, all pending events
//
// The sequential and the conservative engine, which take nothing back, walk everything of an executor
// when they look at their memory and a walk is due.
//
// A walk is due when as many changes were made since the last one as that had things to look at, over
// four: walks then cost a constant share of the run, whatever the size of the model. By counts and not
// by the clock, so that a stepped run can be replayed.
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
    // One more change. Whether this LP is to be looked at as a whole.
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
