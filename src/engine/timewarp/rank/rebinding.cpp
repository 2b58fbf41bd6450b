// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/rank/rebinding.hpp"

#include <cmath>

#include "lp/group.hpp"
#include "numa/place/topology.hpp"
#include "plan/config.hpp"

namespace nw {
namespace {

// Empty if the workers are not bound to CPUs.
std::vector<double> speeds_of(const CpuAssignments& assignments) {
    if (assignments.cpu_of(0) < 0) return {};
    std::vector<Place> places;
    for (std::uint32_t w = 0; w < assignments.workers(); ++w)
        places.push_back({assignments.cpu_of(w), assignments.node_of(w)});
    return shares_of_cpus(places);
}

}  // namespace

Rebinding::Rebinding(const Config& config, bool over_ranks, const CpuAssignments& assignments)
    : interval_(static_cast<std::int64_t>(std::ceil(config.rebind_seconds * 1e9))),
      is_measured_(interval_.count() > 0 && (over_ranks || assignments.workers() > 1)),
      policy_(config.rebind_policy),
      check_share_(config.check_rebind),
      seed_(config.seed),
      assignments_(assignments) {}

void Rebinding::make_plan(std::uint32_t round, Clock::time_point now,
                          std::span<const std::unique_ptr<Group>> groups,
                          const std::function<std::uint32_t(std::uint32_t g)>& owner) {
    const Clock::time_point last = last_sample_;
    if (wants_workloads(round)) {
        // The plan of the previous round may have changed the owners.
        for (BoundGroup& group : bound_)
            group = {group.group, owner(group.group), groups[group.group]->load.workload()};
        plan(round);
    }
    if (!is_due(now)) return;
    bound_.clear();
    has_sampled_ = true;
    double sum = 0;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        if (groups[g] == nullptr) continue;
        bound_.push_back({g, owner(g), groups[g]->load.take()});
        sum += bound_.back().load;
    }
    const double seconds = std::chrono::duration<double>(now - last).count();
    load_.store(static_cast<std::uint64_t>(sum / seconds / assignments_.workers()),
                std::memory_order_relaxed);
    if (assignments_.workers() == 1) return;
    if (needs_workloads())
        workload_round_.store(round + 1, std::memory_order_relaxed);
    else
        plan(round);
}

std::vector<BoundGroup> Rebinding::last_sample(
    std::span<const std::unique_ptr<Group>> groups,
    const std::function<std::uint32_t(std::uint32_t g)>& owner) const {
    std::vector<BoundGroup> looked_at = bound_;
    for (BoundGroup& group : looked_at) {
        group.worker = owner(group.group);
        group.stays = groups[group.group]->stays;
    }
    return looked_at;
}

void Rebinding::begin_anew(Clock::time_point now, std::span<const std::unique_ptr<Group>> groups) {
    bound_.clear();
    has_sampled_ = false;
    for (const auto& group : groups)
        if (group != nullptr) group->load.take();
    load_.store(0, std::memory_order_relaxed);
    last_sample_ = now;
}

bool Rebinding::is_due(Clock::time_point now) noexcept {
    if (!on()) return false;
    if (last_sample_ == Clock::time_point{}) last_sample_ = now;
    if (now - last_sample_ < interval_) return false;
    last_sample_ = now;
    return true;
}

bool Rebinding::needs_workloads() const noexcept {
    return policy_ != RebindPolicy::least_moves && check_share_ == 0;
}

void Rebinding::plan(std::uint32_t round) {
    const std::uint32_t workers = assignments_.workers();
    plan_.round = round;
    plan_.moves = check_share_ > 0 ? draw_moves(bound_, workers, check_share_, seed_ ^ round)
                  : needs_workloads()
                      ? plan_by_knapsack(bound_, workers, policy_ == RebindPolicy::root_sim)
                      : plan_moves(bound_, assignments_.nodes(), speeds_of(assignments_));
}

}  // namespace nw
