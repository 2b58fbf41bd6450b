// SPDX-License-Identifier: Apache-2.0
// Determines which groups should move to another worker of the rank. Loads shift while a model
// runs: traffic jams move, an epidemic spreads. A worker with too much work holds GVT back, and the
// speculation of the other workers is wasted.
//
// The policies are functions in rebind_plans.hpp.
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

#include "engine/timewarp/rank/cpu_assignments.hpp"
#include "engine/timewarp/rank/rebind_plans.hpp"
#include "gvt/contribution.hpp"

namespace nw {

struct Config;
struct Group;
enum class RebindPolicy : std::uint8_t;

// The plans of a rank. Thread: the holder of the net role calls make_plan(). A worker reads the
// plan when it has read the result of the plan's round.
class Rebinding {
  public:
    using Clock = std::chrono::steady_clock;

    struct Plan {
        std::uint32_t round = first_round;  // GVT round; first_round: there is no plan yet
        std::vector<GroupMove> moves;
    };

    // Uses the options --rebind (0: loads are never measured), --rebind-policy, --check-rebind and
    // --seed of `config`. `over_ranks`: loads are measured even if there is one worker.
    // Requires: the assignments outlive this object.
    Rebinding(const Config& config, bool over_ranks, const CpuAssignments& assignments);

    // Whether loads are measured.
    bool on() const noexcept { return is_measured_; }
    // Whether each worker must note the backlogs of its groups before its cut of this round.
    // Thread: any worker that has not cut this round yet.
    bool wants_backlogs(std::uint32_t round) const noexcept {
        return backlog_round_.load(std::memory_order_relaxed) == round;
    }
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

    // A policy that needs the backlogs of the groups makes its plan one round after the round in
    // which the plan is due. If make_plan() is not called in that round, the plan is due again
    // after the interval.
    // Requires: all workers have cut this round, and no worker has read its result. `owner(g)` is
    // the worker of group g. Cost: a comparison until a measurement is due, then a loop over the
    // groups.
    void make_plan(std::uint32_t round, Clock::time_point now,
                   std::span<const std::unique_ptr<Group>> groups,
                   const std::function<std::uint32_t(std::uint32_t g)>& owner);

    const Plan& plan() const noexcept { return plan_; }

  private:
    bool is_due(Clock::time_point now) noexcept;
    void plan(std::uint32_t round, std::vector<GroupMove> moves);

    std::chrono::nanoseconds interval_;
    bool is_measured_;
    RebindPolicy policy_;
    double check_share_;
    std::uint64_t seed_;
    const CpuAssignments& assignments_;
    Clock::time_point last_sample_{};
    bool has_sampled_ = false;
    std::atomic<std::uint64_t> load_{0};
    std::atomic<std::uint32_t> backlog_round_{first_round};  // first_round: none yet
    std::vector<BoundGroup> bound_;
    Plan plan_;
};

}  // namespace nw
