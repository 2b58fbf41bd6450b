// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/rank/rebinding.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

// The groups with their workloads: the time for a group's pending events, in nanoseconds per unit
// of virtual time. If all events of a group are at GVT, the span of these events is assumed to be
// the shortest span of another group.
std::vector<BoundGroup> workloads(std::span<const std::unique_ptr<Group>> groups,
                                  const std::function<std::uint32_t(std::uint32_t g)>& owner) {
    VirtualTime shortest = time_infinity;
    for (const auto& group : groups)
        if (const VirtualTime span = group != nullptr ? group->load.backlog().span : 0; span > 0)
            shortest = std::min(shortest, span);
    if (shortest == time_infinity) shortest = 1;
    std::vector<BoundGroup> weighed;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        if (groups[g] == nullptr) continue;
        const LoadMeter::Backlog backlog = groups[g]->load.backlog();
        weighed.push_back({g, owner(g), backlog.ns / (backlog.span > 0 ? backlog.span : shortest)});
    }
    return weighed;
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
    const std::uint32_t workers = assignments_.workers();
    if (wants_backlogs(round))
        plan(round, plan_by_knapsack(workloads(groups, owner), workers,
                                     policy_ == RebindPolicy::root_sim));
    const Clock::time_point last = last_sample_;
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
    load_.store(static_cast<std::uint64_t>(sum / seconds / workers), std::memory_order_relaxed);
    if (workers == 1) return;
    if (check_share_ > 0)
        plan(round, draw_moves(bound_, workers, check_share_, seed_ ^ round));
    else if (policy_ == RebindPolicy::least_moves)
        plan(round, plan_moves(bound_, assignments_.nodes(), speeds_of(assignments_)));
    else
        backlog_round_.store(round + 1, std::memory_order_relaxed);
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

void Rebinding::plan(std::uint32_t round, std::vector<GroupMove> moves) {
    plan_ = {round, std::move(moves)};
}

}  // namespace nw
