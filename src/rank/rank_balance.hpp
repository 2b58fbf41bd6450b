// Which groups should change their rank, and when that is asked. Unlike moves between the workers of a rank
// (rebinding.hpp) it needs all workers of all ranks to stand still, so it is asked for by one, and only if
// the loads of ranks differ (docs/decisions/0027).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "gvt/contribution.hpp"
#include "plan/partition.hpp"
#include "rank/rebinding.hpp"

namespace nw {

// When. Owner: Rank. Thread: worker 0 of the first rank.
class RankBalance {
  public:
    using Clock = std::chrono::steady_clock;

    // interval_seconds 0: never. `always`: moves are drawn, whatever the loads are.
    RankBalance(double interval_seconds, bool always, std::uint32_t ranks);

    // With a round's sums: whether groups should move now.
    bool is_due(const Contribution& sums, Clock::time_point now) noexcept;
    // A pause is over, that took so long. One in vain makes the next come later, and so does a long one: at
    // most a tenth of the time is for pauses, or half of it where moves are drawn.
    void note_pause(bool groups_moved, Clock::duration took, Clock::time_point now) noexcept;

  private:
    void look_after(double intervals, Clock::time_point now) noexcept;

    std::chrono::duration<double> interval_;
    bool always_;
    std::uint32_t ranks_;
    double patience_ = 1;  // intervals
    Clock::time_point next_{};
};

// A rank as it is seen by all.
struct RankLoads {
    NodeId host;  // equal for ranks on one machine
    struct OfGroup {
        BoundGroup bound;
        std::uint64_t bytes;
    };
    std::vector<OfGroup> groups;
    std::uint64_t room = UINT64_MAX;  // bytes that may come without making memory short
};

struct RankMove {
    std::uint32_t group;
    Partition::Owner from;
    Partition::Owner to;
    std::uint64_t bytes;
};

// What a move costs.
struct MovePrice {
    double ns_per_byte;
    std::uint64_t group_bytes_most;  // larger ones stay
};

// The moves that bring the most loaded rank down by a tenth, what they take included; or none. First
// between ranks on a host, each to the worker that has least to do. Alike on every rank.
std::vector<RankMove> plan_rank_moves(std::span<const RankLoads> ranks, std::uint32_t workers,
                                      const MovePrice& price);

// About this share of all groups, to other ranks, drawn from `seed`; none where they do not fit.
std::vector<RankMove> draw_rank_moves(std::span<const RankLoads> ranks, std::uint32_t workers,
                                      double share, std::uint64_t seed,
                                      std::uint64_t group_bytes_most = UINT64_MAX);

}  // namespace nw
