// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/rank/rank_balance.hpp"

#include <algorithm>
#include <utility>

namespace nw {
namespace {

// Moves must reduce the load of the most loaded rank at least to this share of its present value.
constexpr double worth_moving = 0.9;
constexpr double patience_most = 16;
constexpr int run_per_pause = 9;

// All groups in the form that plan_moves() and draw_moves() read. But BoundGroup::worker contains
// the rank of the group.
struct AllGroups {
    std::vector<BoundGroup> bound;
    std::vector<std::uint64_t> bytes;  // by group
    std::vector<Partition::Owner> owner;

    explicit AllGroups(std::span<const RankLoads> ranks) {
        for (std::uint32_t r = 0; r < ranks.size(); ++r)
            for (const RankLoads::OfGroup& group : ranks[r].groups) {
                const std::uint32_t g = group.bound.group;
                if (g >= owner.size()) {
                    owner.resize(g + 1);
                    bytes.resize(g + 1);
                }
                owner[g] = {static_cast<std::uint16_t>(r),
                            static_cast<std::uint16_t>(group.bound.worker)};
                bytes[g] = group.bytes;
                bound.push_back(group.bound);
                bound.back().worker = r;
            }
    }
};

// Converts moves between ranks to moves between workers: each group goes to the least loaded worker
// of its new rank.
std::vector<RankMove> to_workers(std::span<const GroupMove> moves, const AllGroups& all,
                                 std::size_t ranks, std::uint32_t workers) {
    std::vector<std::vector<double>> loads(ranks, std::vector<double>(workers));
    std::vector<double> load_of(all.owner.size());
    for (const BoundGroup& group : all.bound) {
        load_of[group.group] = group.load;
        loads[group.worker][all.owner[group.group].worker] += group.load;
    }
    for (const GroupMove& move : moves)
        loads[move.from][all.owner[move.group].worker] -= load_of[move.group];
    std::vector<RankMove> placed;
    for (const GroupMove& move : moves) {
        const auto least = std::min_element(loads[move.to].begin(), loads[move.to].end());
        *least += load_of[move.group];
        placed.push_back({move.group,
                          all.owner[move.group],
                          {static_cast<std::uint16_t>(move.to),
                           static_cast<std::uint16_t>(least - loads[move.to].begin())},
                          all.bytes[move.group]});
    }
    return placed;
}

// Whether the groups fit into the memory of their new ranks. Groups that leave a rank make room for
// groups that arrive.
bool fit(std::span<const RankMove> moves, std::span<const RankLoads> ranks) {
    std::vector<std::uint64_t> coming(ranks.size()), leaving(ranks.size());
    for (const RankMove& move : moves) {
        coming[move.to.rank] += move.bytes;
        leaving[move.from.rank] += move.bytes;
    }
    for (std::size_t r = 0; r < ranks.size(); ++r)
        if (coming[r] > leaving[r] && coming[r] - leaving[r] > ranks[r].room) return false;
    return true;
}

}  // namespace

RankBalance::RankBalance(double interval_seconds, bool always, std::uint32_t ranks)
    : interval_(interval_seconds), always_(always), ranks_(ranks) {}

// Ranks measure their loads once per interval, each by its own clock. Half an interval later, all
// ranks have measured.
bool RankBalance::is_due(const Contribution& sums, Clock::time_point now) noexcept {
    if (interval_.count() == 0) return false;
    if (next_ == Clock::time_point{}) sample_after(1.5, now);
    if (now < next_) return false;
    sample_after(1, now);
    return always_ || static_cast<double>(sums.load_most) * ranks_ * worth_moving >
                          static_cast<double>(sums.load);
}

void RankBalance::note_pause(bool groups_moved, Clock::duration took,
                             Clock::time_point now) noexcept {
    patience_ = groups_moved || always_ ? 1 : std::min(2 * patience_, patience_most);
    sample_after(patience_ + 0.5, now);
    next_ = std::max(next_, now + (always_ ? 1 : run_per_pause) * took);
}

void RankBalance::sample_after(double intervals, Clock::time_point now) noexcept {
    next_ = now + std::chrono::duration_cast<Clock::duration>(intervals * interval_);
}

std::vector<RankMove> plan_rank_moves(std::span<const RankLoads> ranks, std::uint32_t workers,
                                      const MovePrice& price) {
    AllGroups all(ranks);
    std::vector<NodeId> hosts;
    for (const RankLoads& rank : ranks) hosts.push_back(rank.host);
    std::vector<double> loads(ranks.size());
    for (BoundGroup& group : all.bound) {
        group.stays |= all.bytes[group.group] > price.group_bytes_most;
        loads[group.worker] += group.load;
    }
    const double before = *std::max_element(loads.begin(), loads.end()) / workers;

    const std::vector<RankMove> moves =
        to_workers(plan_moves(all.bound, hosts), all, ranks.size(), workers);
    std::vector<double> load_of(all.owner.size());
    for (const BoundGroup& group : all.bound) load_of[group.group] = group.load;
    std::vector<std::uint64_t> bytes(ranks.size());
    for (const RankMove& move : moves) {
        for (const std::uint16_t rank : {move.from.rank, move.to.rank}) bytes[rank] += move.bytes;
        loads[move.from.rank] -= load_of[move.group];
        loads[move.to.rank] += load_of[move.group];
    }
    const double after = *std::max_element(loads.begin(), loads.end()) / workers;
    const auto most_bytes = static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
    if (after + most_bytes * price.ns_per_byte > worth_moving * before) return {};
    return fit(moves, ranks) ? moves : std::vector<RankMove>{};
}

std::vector<RankMove> draw_rank_moves(std::span<const RankLoads> ranks, std::uint32_t workers,
                                      double share, std::uint64_t seed,
                                      std::uint64_t group_bytes_most) {
    AllGroups all(ranks);
    std::erase_if(all.bound, [&](const BoundGroup& group) {
        return group.stays || all.bytes[group.group] > group_bytes_most;
    });
    const auto count = static_cast<std::uint32_t>(ranks.size());
    std::vector<RankMove> moves =
        to_workers(draw_moves(all.bound, count, share, seed), all, count, workers);
    if (!fit(moves, ranks)) moves.clear();
    return moves;
}

}  // namespace nw
