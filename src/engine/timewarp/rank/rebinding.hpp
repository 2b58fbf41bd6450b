// SPDX-License-Identifier: Apache-2.0
// Determines which groups should move to another worker of the rank. Loads shift while a model
// runs: traffic jams move, an epidemic spreads. A worker with too much work holds GVT back, and the
// speculation of the other workers is wasted.
//
// "NUMA Time Warp" (Pellegrini and Quaglia, PADS 2015) refers to another paper for the policy that
// assigns groups to workers. Here the policy is "longest processing time first" (Graham, "Bounds on
// multiprocessing timing anomalies", 1969). The policy starts with the present owners, so that few
// groups move.
//
// A plan belongs to a GVT round. The plan is made when all workers have cut the round. Each worker
// reads the plan with the round's result, and carries out the plan before the worker's next cut. So
// at every cut, each group has exactly one worker, and GVT and the ending do not depend on moves of
// groups (docs/decisions/0017).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

#include "engine/timewarp/rank/cpu_assignments.hpp"
#include "gvt/contribution.hpp"

namespace nw {

struct Group;

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

// The plans of a rank. Thread: the holder of the net role calls make_plan(). A worker reads the
// plan when it has read the result of the plan's round.
class Rebinding {
  public:
    using Clock = std::chrono::steady_clock;

    struct Plan {
        std::uint32_t round = first_round;  // GVT round; first_round: there is no plan yet
        std::vector<GroupMove> moves;
    };

    // interval_seconds 0: loads are never measured. check_share > 0: moves are drawn at random, not
    // planned. `over_ranks`: loads are measured even if there is one worker.
    // Requires: the assignments outlive this object.
    Rebinding(double interval_seconds, double check_share, std::uint64_t seed, bool over_ranks,
              const CpuAssignments& assignments);

    // Whether loads are measured.
    bool on() const noexcept { return is_measured_; }
    // Committed work of this rank between the last two measurements, in nanoseconds per second and
    // worker. Thread: any.
    std::uint64_t load() const noexcept { return load_.load(std::memory_order_relaxed); }

    // The groups with their loads between the last two measurements and with their present owners.
    // Requires: no worker executes.
    std::vector<BoundGroup> last_sample(
        std::span<const std::unique_ptr<Group>> groups,
        const std::function<std::uint32_t(std::uint32_t g)>& owner) const;
    // Discards the measurements, because groups have been added or removed.
    void begin_anew(Clock::time_point now, std::span<const std::unique_ptr<Group>> groups);
    // Whether loads have been measured since the last begin_anew().
    bool has_sampled() const noexcept { return has_sampled_; }

    // Requires: all workers have cut this round, and no worker has read its result. `owner(g)` is
    // the worker of group g. Cost: a comparison until a measurement is due, then a loop over the
    // groups.
    void make_plan(std::uint32_t round, Clock::time_point now,
                   std::span<const std::unique_ptr<Group>> groups,
                   const std::function<std::uint32_t(std::uint32_t g)>& owner);

    const Plan& plan() const noexcept { return plan_; }

  private:
    bool is_due(Clock::time_point now) noexcept;
    void plan(std::uint32_t round);

    std::chrono::nanoseconds interval_;
    bool is_measured_;
    double check_share_;
    std::uint64_t seed_;
    const CpuAssignments& assignments_;
    Clock::time_point last_sample_{};
    bool has_sampled_ = false;
    std::atomic<std::uint64_t> load_{0};
    std::vector<BoundGroup> bound_;
    Plan plan_;
};

}  // namespace nw
