// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/rank/rebind_plans.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>

namespace nw {
namespace {

constexpr double gain_worth_moving = 0.10;  // as a share of the time of the most loaded worker
constexpr double balanced_enough = 0.03;    // planning stops at this share above the mean

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9e37'79b9'7f4a'7c15;
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    return x ^ (x >> 31);
}

double uniform(std::uint64_t x) noexcept { return static_cast<double>(mix(x) >> 11) * 0x1p-53; }

// The groups and the load of each worker. Groups without load are not moved.
class Assignment {
  public:
    Assignment(std::span<const BoundGroup> groups, std::span<const NodeId> nodes,
               std::span<const double> speeds)
        : nodes_(nodes),
          speeds_(speeds.begin(), speeds.end()),
          loads_(nodes.size()),
          groups_(nodes.size()) {
        speeds_.resize(nodes.size(), 1.0);
        for (const BoundGroup& group : groups) {
            if (!(group.load > 0)) continue;
            loads_[group.worker] += group.load;
            if (!group.stays) groups_[group.worker].insert(group);
        }
        mean_ = std::accumulate(loads_.begin(), loads_.end(), 0.0) /
                std::accumulate(speeds_.begin(), speeds_.end(), 0.0);
    }

    // The time that the loads take if they are distributed evenly.
    double mean() const noexcept { return mean_; }
    // The time that the worker's load takes.
    double time(std::uint32_t worker) const noexcept { return loads_[worker] / speeds_[worker]; }
    std::uint32_t most_loaded() const noexcept {
        std::uint32_t most = 0;
        for (std::uint32_t w = 1; w < loads_.size(); ++w)
            if (time(w) > time(most)) most = w;
        return most;
    }

    // Moves one group away from the most loaded worker. The group moves to the least loaded worker
    // of the same node if the time of this worker then stays near the mean. Otherwise it moves to
    // the least loaded worker of all nodes. Returns false if no move would help. Cost: O(workers +
    // log groups).
    bool improve() {
        const std::uint32_t from = most_loaded();
        for (const bool same_node : {true, false}) {
            const std::optional<std::uint32_t> to = least_loaded(from, same_node);
            if (!to) continue;
            const auto choice = choose(from, *to);
            if (choice == groups_[from].end()) continue;
            const double after = (loads_[*to] + choice->load) / speeds_[*to];
            if (same_node && after > mean_ * (1 + balanced_enough)) continue;
            move(from, *to, choice);
            return true;
        }
        return false;
    }

    // The groups whose worker has changed.
    std::vector<GroupMove> moves() const {
        std::vector<GroupMove> moves;
        for (std::uint32_t worker = 0; worker < groups_.size(); ++worker)
            for (const BoundGroup& group : groups_[worker])
                if (group.worker != worker) moves.push_back({group.group, group.worker, worker});
        return moves;
    }

  private:
    struct Shorter {
        bool operator()(const BoundGroup& a, const BoundGroup& b) const noexcept {
            return a.load != b.load ? a.load < b.load : a.group < b.group;
        }
    };
    using ByLoad = std::set<BoundGroup, Shorter>;

    std::optional<std::uint32_t> least_loaded(std::uint32_t other_than, bool same_node) const {
        std::optional<std::uint32_t> least;
        for (std::uint32_t w = 0; w < loads_.size(); ++w) {
            if (w == other_than || (same_node && nodes_[w] != nodes_[other_than])) continue;
            if (!least || time(w) < time(*least)) least = w;
        }
        return least;
    }

    // After the move of a group, `to` should take no more time than `from`. Chooses the group with
    // the highest load for which this is true. If there is no such group, chooses the group with
    // the lowest load, provided that its move still helps.
    ByLoad::const_iterator choose(std::uint32_t from, std::uint32_t to) const {
        const ByLoad& groups = groups_[from];
        const double helps = time(from) * speeds_[to] - loads_[to];
        const double fits = helps * speeds_[from] / (speeds_[from] + speeds_[to]);
        const auto longer = groups.upper_bound({UINT32_MAX, 0, fits});
        if (longer != groups.begin()) return std::prev(longer);
        return longer != groups.end() && longer->load < helps ? longer : groups.end();
    }

    void move(std::uint32_t from, std::uint32_t to, ByLoad::const_iterator choice) {
        loads_[from] -= choice->load;
        loads_[to] += choice->load;
        groups_[to].insert(groups_[from].extract(choice));
    }

    std::span<const NodeId> nodes_;
    std::vector<double> speeds_;  // by worker
    std::vector<double> loads_;   // by worker
    std::vector<ByLoad> groups_;  // by worker
    double mean_ = 0;
};

}  // namespace

std::vector<GroupMove> plan_moves(std::span<const BoundGroup> groups,
                                  std::span<const NodeId> worker_nodes,
                                  std::span<const double> worker_speeds) {
    Assignment assignment(groups, worker_nodes, worker_speeds);
    const double before = assignment.time(assignment.most_loaded());
    // Every step reduces the longest time, or the number of workers with this time. The limit of
    // steps is needed for times that rounding makes equal.
    for (std::size_t step = 0; step < groups.size(); ++step) {
        const double most = assignment.time(assignment.most_loaded());
        if (most <= assignment.mean() * (1 + balanced_enough) || !assignment.improve()) break;
    }
    const double after = assignment.time(assignment.most_loaded());
    if (!(after <= before * (1 - gain_worth_moving))) return {};
    return assignment.moves();
}

std::vector<GroupMove> draw_moves(std::span<const BoundGroup> groups, std::uint32_t workers,
                                  double share, std::uint64_t seed) {
    std::vector<GroupMove> moves;
    if (workers < 2) return moves;
    for (const BoundGroup& group : groups) {
        const std::uint64_t draw = mix(seed) + group.group;
        if (!(uniform(2 * draw) < share)) continue;
        const auto ahead = 1 + static_cast<std::uint32_t>(mix(2 * draw + 1) % (workers - 1));
        moves.push_back({group.group, group.worker, (group.worker + ahead) % workers});
    }
    return moves;
}

std::vector<GroupMove> plan_by_knapsack(std::span<const BoundGroup> groups, std::uint32_t workers,
                                        bool by_position) {
    std::vector<std::size_t> sorted(groups.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::ranges::stable_sort(
        sorted, [&](std::size_t a, std::size_t b) { return groups[a].load > groups[b].load; });
    double sum = 0;
    for (const BoundGroup& group : groups) sum += group.load;
    if (!(sum > 0)) return {};
    const double mean = sum / workers;
    std::vector<double> sums(workers);
    std::vector<GroupMove> moves;
    std::uint32_t next = 0;  // the worker that gets the next group if no sum stays low enough
    bool fits_none = false;  // then no further group is compared with the sums
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const double load = groups[sorted[i]].load;
        auto to = static_cast<std::uint32_t>(i);
        if (i >= workers) {
            to = 0;
            while (!fits_none && to < workers && sums[to] + load > mean) ++to;
            fits_none |= to == workers;
            if (fits_none) to = next++ % workers;
        }
        sums[to] += load;
        const BoundGroup& group = groups[by_position ? i : sorted[i]];
        if (group.worker != to) moves.push_back({group.group, group.worker, to});
    }
    return moves;
}

}  // namespace nw
