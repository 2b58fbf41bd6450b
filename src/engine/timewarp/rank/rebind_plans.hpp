// SPDX-License-Identifier: Apache-2.0
// Computes which groups should move to another worker, from the load of each group. The functions
// only compute; rebinding.hpp decides when they are called.
//
// The default policy is "longest processing time first" (Graham, "Bounds on multiprocessing timing
// anomalies", 1969). It starts with the present owners, so that few groups move.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

namespace nw {

struct BoundGroup {
    std::uint32_t group;
    std::uint32_t worker;
    double load;  // committed work since the last measurement, in nanoseconds
    bool stays = false;
};

struct GroupMove {
    std::uint32_t group;
    std::uint32_t from;
    std::uint32_t to;
    friend bool operator==(const GroupMove&, const GroupMove&) = default;
};

// Returns moves that reduce the longest time of a worker by at least a tenth, or no moves. The time
// of a worker is its load divided by its speed. Groups move to a worker of their own node if the
// time of this worker stays near the mean.
// `worker_speeds`: relative; a worker with half the speed gets half as much load. Empty: all speeds
// are equal. Requires: every worker < worker_nodes.size(), and speeds > 0.
std::vector<GroupMove> plan_moves(std::span<const BoundGroup> groups,
                                  std::span<const NodeId> worker_nodes,
                                  std::span<const double> worker_speeds = {});

// For --check-rebind: draws random moves to other workers, for about the share `share` of the
// groups. The result depends only on the arguments.
std::vector<GroupMove> draw_moves(std::span<const BoundGroup> groups, std::uint32_t workers,
                                  double share, std::uint64_t seed);

// The policy of the paper to which "NUMA Time Warp" refers: R. Vitali, A. Pellegrini, F. Quaglia,
// "A Load Sharing Architecture for Optimistic Simulations on Multi-Core Machines", HiPC 2012.
// Assigns all groups anew, and ignores the present owners: sorts the groups by `load`, gives one
// group to each worker, gives each further group to the first worker whose sum stays at or below
// the mean, and deals out the rest in turn. For this policy, `load` is the time for the group's
// pending events per unit of virtual time. Returns no moves if all loads are 0.
// `by_position`: repeats a mistake of the authors' public program (ROOT-Sim, September 2015,
// src/scheduler/binding.c). The program stores the worker of the i-th group in sorted order as the
// worker of group i. So the sums of the workers differ from the sums that were computed.
std::vector<GroupMove> plan_by_knapsack(std::span<const BoundGroup> groups, std::uint32_t workers,
                                        bool by_position);

}  // namespace nw
