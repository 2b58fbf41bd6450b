// SPDX-License-Identifier: Apache-2.0
#include "plan/partition.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <metis.h>

#include <numawarp/model.hpp>

#include "numa/os/signals.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// With more groups, moving some of them balances the workers' loads better. With fewer groups, a
// group has more mail per era, so the cost of a lock and a swap is divided among more events. A
// large group also fills huge pages. Measured on two cores: with 16 and 32 groups per worker
// instead of 4, PHOLD (4,096 LPs, 25 % remote) lost 14 % and 21 % of its speed. With 16 groups, the
// model traffic (1,024 objects) lost 18 %.
constexpr std::uint32_t groups_per_worker = 4;
// A group of this size has both advantages of large groups, and moves in milliseconds. The memory
// that such a group has taken from the kernel and not used yet (up to 3 MiB with huge pages) is
// only about a tenth of the group's memory.
constexpr std::uint32_t lps_per_group_max = 131'072;

// METIS stores counts and weights as idx_t, which has 32 bits.
constexpr std::uint32_t metis_vertices_max = std::numeric_limits<std::int32_t>::max() - 1;
constexpr std::uint64_t metis_weight_max = std::uint64_t{1} << 30;  // of all links, both ways

std::uint32_t choose_lps_per_group(std::uint32_t lps, std::uint32_t workers) {
    const std::uint32_t wanted = lps / (workers * groups_per_worker);
    return std::clamp(wanted, 1u, lps_per_group_max);
}

std::uint32_t likeness(const Setup& setup, LpId lp) {
    if (setup.likeness) return setup.likeness(lp);
    if (setup.lps.all().size() == 1) return 0;
    return static_cast<std::uint32_t>(&setup.lps.kind_of(lp) - setup.lps.all().data());
}

// Partitions the graph of the model's links by the k-way method of METIS (Karypis and Kumar, "A
// fast and high quality multilevel scheme for partitioning irregular graphs", 1998). Equal
// arguments give equal results.
std::vector<std::uint32_t> metis_parts(std::uint32_t lps, const std::vector<Link>& links,
                                       std::uint32_t parts, const std::vector<double>& shares) {
    std::vector<std::vector<std::pair<idx_t, idx_t>>> adjacent(lps);
    std::uint64_t sum = 0;
    for (const Link& link : links) sum += 2 * std::uint64_t{link.weight};
    const std::uint64_t unit = sum / metis_weight_max + 1;  // 1 except for extreme weights
    for (const Link& link : links) {
        const auto a = index(link.a), b = index(link.b);
        const auto weight = static_cast<idx_t>((link.weight + unit - 1) / unit);
        if (a == b || weight == 0) continue;
        adjacent[a].emplace_back(static_cast<idx_t>(b), weight);
        adjacent[b].emplace_back(static_cast<idx_t>(a), weight);
    }
    std::vector<idx_t> starts{0}, neighbors, weights;
    for (auto& list : adjacent) {
        std::sort(list.begin(), list.end());
        for (const auto& [lp, weight] : list) {
            const bool repeated =
                static_cast<idx_t>(neighbors.size()) > starts.back() && neighbors.back() == lp;
            if (repeated) {
                weights.back() += weight;
            } else {
                neighbors.push_back(lp);
                weights.push_back(weight);
            }
        }
        starts.push_back(static_cast<idx_t>(neighbors.size()));
    }
    idx_t vertices = static_cast<idx_t>(lps), constraints = 1, cut = 0;
    idx_t part_count = static_cast<idx_t>(parts);
    std::vector<idx_t> part(lps, 0);
    NW_CHECK(shares.empty() || shares.size() == parts);
    const double sum_of_shares = std::accumulate(shares.begin(), shares.end(), 0.0);
    std::vector<real_t> targets;  // empty: METIS makes equal parts
    for (const double share : shares) targets.push_back(static_cast<real_t>(share / sum_of_shares));
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    // While METIS works, it handles SIGTERM and SIGABRT, because it uses these signals for its own
    // errors. Afterwards it restores the previous handlers by signal(2). With some C libraries, a
    // handler that signal(2) has installed handles only one signal, and the next signal would kill
    // the process. Signals of the user are blocked during the call, because METIS would treat them
    // as internal errors.
    const SignalsBlocked blocked;
    const KeptSignalActions<SIGTERM, SIGABRT> kept;
    const int status = METIS_PartGraphKway(&vertices, &constraints, starts.data(), neighbors.data(),
                                           nullptr, nullptr, weights.data(), &part_count,
                                           targets.empty() ? nullptr : targets.data(), nullptr,
                                           options, &cut, part.data());
    NW_CHECK(status == METIS_OK);
    return {part.begin(), part.end()};
}

// Returns for each item the worker on which it starts; workers are numbered over all ranks. An item
// is an LP or a group. The model chooses the rank of an item. On each rank, each worker gets the
// same number of consecutive items of each likeness(). lp_of(item) returns the LP that represents
// the item.
template <class LpOf>
std::vector<std::uint32_t> workers_by_rank(const Setup& setup, std::uint32_t ranks,
                                           std::uint32_t workers_per_rank, std::uint32_t items,
                                           LpOf&& lp_of) {
    struct Alike {
        std::uint64_t items = 0, dealt = 0;
        // Used only if there are fewer items than workers on the rank: the first worker of these
        // items is `first` modulo the number of workers on the rank. `first` is the number of items
        // of all previous likenesses on this rank. So successive likenesses with few items start on
        // different workers.
        std::uint64_t first = 0;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Alike> all;
    const auto alike = [&](std::uint32_t item) -> auto& {
        const LpId lp{lp_of(item)};
        return *all.try_emplace({setup.rank_of(lp) % ranks, likeness(setup, lp)}).first;
    };
    for (std::uint32_t item = 0; item < items; ++item) ++alike(item).second.items;
    std::vector<std::uint64_t> before(ranks);
    for (auto& [of, here] : all)
        here.first = std::exchange(before[of.first], before[of.first] + here.items);
    std::vector<std::uint32_t> workers(items);
    for (std::uint32_t item = 0; item < items; ++item) {
        auto& [of, here] = alike(item);
        const std::uint64_t dealt = here.dealt++;
        const std::uint64_t place = here.items < workers_per_rank
                                        ? here.first + dealt
                                        : dealt * workers_per_rank / here.items;
        workers[item] =
            of.first * workers_per_rank + static_cast<std::uint32_t>(place % workers_per_rank);
    }
    return workers;
}

}  // namespace

Partition::Partition(const Setup& setup, std::uint32_t ranks, std::uint32_t workers_per_rank,
                     std::uint32_t lps_per_group, const std::vector<double>& worker_shares)
    : lps_(setup.lps.count()), workers_per_rank_(workers_per_rank), slots_(setup.lps.count()) {
    const std::uint32_t workers = ranks * workers_per_rank;
    set_lps_per_group(lps_per_group > 0 ? std::min(lps_per_group, setup.lps.count())
                                        : choose_lps_per_group(setup.lps.count(), workers));
    if ((lps_ - 1) / lps_per_group_ >= groups_max)
        throw SetupError(
            fmt::format("--lps-per-group {0}: divides {2} LPs into {1} groups; allowed: at most "
                        "{3} groups, or auto",
                        lps_per_group_, (lps_ - 1) / lps_per_group_ + 1, lps_, groups_max));
    if (!setup.parts.empty()) {
        distribute_by_parts(setup.parts, workers);
    } else if (setup.rank_of && ranks > 1) {
        distribute_by_parts(workers_by_rank(setup, ranks, workers_per_rank, lps_,
                                            [](std::uint32_t lp) { return lp; }),
                            workers);
    } else if (!setup.links.empty() && workers > 1 && workers <= setup.lps.count() &&
               setup.lps.count() <= metis_vertices_max) {
        distribute_by_parts(metis_parts(lps_, setup.links, workers, worker_shares), workers);
    } else {
        distribute_groups(setup, (lps_ - 1) / lps_per_group_ + 1, workers, worker_shares);
    }
}

Partition::Partition(const Setup& setup, const SavedPartition& saved, std::uint32_t ranks,
                     std::uint32_t workers_per_rank, const std::vector<double>& worker_shares)
    : lps_(saved.lps), workers_per_rank_(workers_per_rank), slots_(saved.lps) {
    set_lps_per_group(saved.lps_per_group);
    if (!saved.slot_of_lp.empty())
        slots_ = SlotMap(lps_, saved.groups * lps_per_group_,
                         [&] { return [&](std::uint32_t lp) { return saved.slot_of_lp[lp]; }; });
    if (!setup.rank_of || ranks == 1 || !groups_are_of_one_rank(setup, ranks, saved.groups)) {
        distribute_groups(setup, saved.groups, ranks * workers_per_rank, worker_shares);
    } else {
        const auto first_of = [&](std::uint32_t g) { return slots_.lp_of(g * lps_per_group_); };
        for (const std::uint32_t worker :
             workers_by_rank(setup, ranks, workers_per_rank, saved.groups, first_of))
            owners_.push_back(owner_of(worker));
    }
}

bool Partition::groups_are_of_one_rank(const Setup& setup, std::uint32_t ranks,
                                       std::uint32_t groups) const {
    const auto rank_of = [&](std::uint32_t lp) { return setup.rank_of(LpId{lp}) % ranks; };
    for (std::uint32_t g = 0; g < groups; ++g) {
        const std::vector<std::uint32_t> lps = members(g);
        for (const std::uint32_t lp : lps)
            if (rank_of(lp) != rank_of(lps.front())) return false;
    }
    return true;
}

void Partition::set_lps_per_group(std::uint32_t lps) noexcept {
    lps_per_group_ = lps;
    group_reciprocal_ = std::numeric_limits<std::uint64_t>::max() / lps + 1;
}

void Partition::distribute_groups(const Setup& setup, std::uint32_t groups, std::uint32_t workers,
                                  const std::vector<double>& worker_shares) {
    // The LP in a group's middle determines the group's likeness. If the slots are not in the order
    // of the LPs, all groups are alike: neighboring groups contain LPs of the same part, and should
    // stay together.
    const auto likeness_of = [&](std::uint32_t g) {
        const std::uint64_t middle = (std::uint64_t{g} * 2 + 1) * lps_per_group_ / 2;
        return slots_.is_in_order()
                   ? likeness(setup, LpId{static_cast<std::uint32_t>(
                                         std::min<std::uint64_t>(middle, lps_ - 1))})
                   : 0;
    };
    struct Alike {
        std::uint32_t groups = 0, dealt = 0;
        // The number of groups of all previous likenesses. Modulo the number of workers, it is the
        // first worker for these groups, unless the workers have shares and there are many groups.
        std::uint32_t first = 0;
    };
    NW_CHECK(worker_shares.empty() || worker_shares.size() == workers);
    // The worker of group number `dealt` of `count` groups.
    std::vector<double> ends(worker_shares.size());
    std::partial_sum(worker_shares.begin(), worker_shares.end(), ends.begin());
    const auto place = [&](std::uint64_t dealt, std::uint32_t count) -> std::uint64_t {
        if (ends.empty()) return dealt * workers / count;
        const double middle = (static_cast<double>(dealt) + 0.5) / count * ends.back();
        return static_cast<std::uint64_t>(std::upper_bound(ends.begin(), ends.end(), middle) -
                                          ends.begin());
    };
    std::map<std::uint32_t, Alike> all;
    for (std::uint32_t g = 0; g < groups; ++g) ++all[likeness_of(g)].groups;
    std::uint32_t before = 0;
    for (auto& [number, alike] : all) alike.first = std::exchange(before, before + alike.groups);
    for (std::uint32_t g = 0; g < groups; ++g) {
        Alike& alike = all[likeness_of(g)];
        const std::uint64_t dealt = alike.dealt++;
        const bool is_few = alike.groups < workers && all.size() > 1;
        const std::uint64_t first = is_few || ends.empty() ? alike.first : 0;
        const std::uint64_t ahead = is_few ? dealt : place(dealt, alike.groups);
        owners_.push_back(owner_of(static_cast<std::uint32_t>((first + ahead) % workers)));
    }
}

void Partition::distribute_by_parts(const std::vector<std::uint32_t>& part, std::uint32_t workers) {
    std::vector<std::uint32_t> counts(workers);
    for (std::uint32_t lp = 0; lp < lps_; ++lp) ++counts[part[lp] % workers];
    std::vector<std::uint32_t> first_slots;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
        first_slots.push_back(groups() * lps_per_group_);
        const std::uint32_t groups_of = (counts[worker] + lps_per_group_ - 1) / lps_per_group_;
        owners_.resize(owners_.size() + groups_of, owner_of(worker));
    }
    slots_ = SlotMap(lps_, groups() * lps_per_group_, [&] {
        return [&, next = first_slots](std::uint32_t lp) mutable {
            return next[part[lp] % workers]++;
        };
    });
}

SavedPartition Partition::save() const {
    SavedPartition saved{lps_, lps_per_group_, groups()};
    if (slots_.is_in_order()) return saved;
    saved.slot_of_lp.resize(lps_);
    for (std::uint32_t lp = 0; lp < lps_; ++lp) saved.slot_of_lp[lp] = slots_.slot_of(lp);
    return saved;
}

std::vector<std::uint32_t> Partition::members(std::uint32_t group) const {
    std::vector<std::uint32_t> lps;
    const std::uint64_t first = std::uint64_t{group} * lps_per_group_;
    const std::uint64_t end = std::min(first + lps_per_group_, std::uint64_t{1} << 32);
    for (std::uint64_t slot = first; slot < end; ++slot) {
        const std::uint32_t lp = slots_.lp_of(static_cast<std::uint32_t>(slot));
        if (lp != SlotMap::no_lp) lps.push_back(lp);
    }
    return lps;
}

}  // namespace nw
