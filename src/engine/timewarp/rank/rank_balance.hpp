// SPDX-License-Identifier: Apache-2.0
// Determines which groups should move to another rank, and when. Unlike a move between the workers
// of a rank (rebinding.hpp), such a move requires that all workers of all ranks pause. Therefore
// one worker requests the pause, and only if the loads of the ranks differ (docs/decisions/0027).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/timewarp/rank/rebinding.hpp"
#include "gvt/contribution.hpp"
#include "plan/partition.hpp"

namespace nw {

// Determines when groups should move. Owner: Rank. Thread: worker 0 of the first rank.
class RankBalance {
  public:
    using Clock = std::chrono::steady_clock;

    // interval_seconds 0: groups never move. `always`: moves are drawn at random, independent of
    // the loads.
    RankBalance(double interval_seconds, bool always, std::uint32_t ranks);

    // Returns whether groups should move now; `sums` are the sums of a GVT round.
    bool is_due(const Contribution& sums, Clock::time_point now) noexcept;
    // Called when a pause of length `took` is over. The next pause comes later if no groups moved,
    // or if this pause was long: pauses take at most a tenth of the time, or half of the time if
    // moves are drawn at random.
    void note_pause(bool groups_moved, Clock::duration took, Clock::time_point now) noexcept;

  private:
    void sample_after(double intervals, Clock::time_point now) noexcept;

    std::chrono::duration<double> interval_;
    bool always_;
    std::uint32_t ranks_;
    double patience_ = 1;  // in intervals
    Clock::time_point next_{};
};

// The loads of one rank, as all ranks receive them.
struct RankLoads {
    NodeId host;  // equal for ranks on one machine
    struct OfGroup {
        BoundGroup bound;
        std::uint64_t bytes;
    };
    std::vector<OfGroup> groups;
    std::uint64_t room = UINT64_MAX;  // bytes that may arrive without making memory short
};

struct RankMove {
    std::uint32_t group;
    Partition::Owner from;
    Partition::Owner to;
    std::uint64_t bytes;
};

// The cost of a move.
struct MovePrice {
    double ns_per_byte;
    std::uint64_t group_bytes_most;  // larger groups stay
};

// Returns moves that reduce the load of the most loaded rank by at least a tenth, including the
// cost of the moves. Returns no moves if this is not possible. Groups move to ranks of the same
// host first, and to the least loaded worker of a rank. The result is the same on every rank.
std::vector<RankMove> plan_rank_moves(std::span<const RankLoads> ranks, std::uint32_t workers,
                                      const MovePrice& price);

// Draws random moves to other ranks, for about the share `share` of all groups. The result depends
// only on the arguments. Returns no moves if the groups do not fit.
std::vector<RankMove> draw_rank_moves(std::span<const RankLoads> ranks, std::uint32_t workers,
                                      double share, std::uint64_t seed,
                                      std::uint64_t group_bytes_most = UINT64_MAX);

}  // namespace nw
