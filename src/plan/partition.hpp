// SPDX-License-Identifier: Apache-2.0
// Stores the group of each LP, and the rank and the worker on which each group starts. Every rank
// computes the same partition from the set-up. The partition is read-only afterwards.
//
// LPs are put in a row (by the model's own map, by METIS on the model's links, or in blocks). The
// row is cut into groups of equal size. Each worker gets a stretch of groups; if LPs are in blocks,
// it gets a stretch of each kind. So an LP's record is found by arithmetic: one multiplication maps
// a place in the row to a group, without a table. Every rank stores 4 bytes per group. It also
// stores the row if the LPs are not in order (slot_map.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/slot_map.hpp"

namespace nw {

struct Setup;

// A partition without the owners of groups. These data suffice to make the same groups again.
struct SavedPartition {
    std::uint32_t lps = 0;
    std::uint32_t lps_per_group = 1;
    std::uint32_t groups = 0;
    std::vector<std::uint32_t> slot_of_lp{};  // empty: slot i holds LP i
};

class Partition {
  public:
    // A larger group could not be moved, and its table of LPs would be large.
    static constexpr std::uint32_t lps_per_group_most = std::uint32_t{1} << 24;
    // The number of slots of 2 MiB that the region has (memory/region/region.hpp).
    static constexpr std::uint32_t groups_max = std::uint32_t{1} << 24;

    // lps_per_group 0: the engine chooses the value. `worker_shares`: the shares of the workers in
    // the LPs, relative to each other, if there is one rank; empty: all workers get the same number
    // of LPs, unless the model assigns the LPs. Requires: setup.lps ≥ 1, links only between
    // existing LPs, numbers of ranks and workers from 1 to the bounds below, and shares > 0.
    Partition(const Setup& setup, std::uint32_t ranks, std::uint32_t workers_per_rank,
              std::uint32_t lps_per_group, const std::vector<double>& worker_shares = {});

    // Makes the groups of the saved partition, and assigns them in stretches to the present
    // workers. Requires: as for the other constructor.
    Partition(const Setup& setup, const SavedPartition& saved, std::uint32_t ranks,
              std::uint32_t workers_per_rank, const std::vector<double>& worker_shares = {});
    SavedPartition save() const;

    struct Position {
        std::uint32_t group;
        std::uint32_t index;  // within the group
    };
    [[gnu::always_inline]] Position position(std::uint32_t lp) const noexcept {
        const std::uint32_t slot = slots_.slot_of(lp);
        if (lps_per_group_ == 1) return {slot, 0};
        __extension__ using Wide = unsigned __int128;
        const auto group =
            static_cast<std::uint32_t>((static_cast<Wide>(slot) * group_reciprocal_) >> 64);
        return {group, slot - group * lps_per_group_};
    }

    // Owner::worker has 16 bits, and Rank uses one of these bits. The bound on workers is lower,
    // because no host has more cores.
    static constexpr std::uint32_t ranks_max = 65'536;
    static constexpr std::uint32_t workers_per_rank_max = 4'096;

    // Aligned so that the whole object can be read and written atomically.
    struct alignas(std::uint32_t) Owner {
        std::uint16_t rank;
        std::uint16_t worker;
        friend bool operator==(Owner, Owner) = default;
    };
    Owner first_owner(std::uint32_t group) const noexcept { return owners_[group]; }

    std::uint32_t lps() const noexcept { return lps_; }
    std::uint32_t groups() const noexcept { return static_cast<std::uint32_t>(owners_.size()); }
    std::uint32_t lps_per_group() const noexcept { return lps_per_group_; }

    // Memory that the partition takes on every rank.
    std::size_t bytes() const noexcept {
        return slots_.bytes() + owners_.capacity() * sizeof(Owner);
    }

    // The LPs of a group, in index order.
    std::vector<std::uint32_t> members(std::uint32_t group) const;

  private:
    void set_lps_per_group(std::uint32_t lps) noexcept;
    // The owner for worker number `worker`, counted over all ranks.
    Owner owner_of(std::uint32_t worker) const noexcept {
        return {static_cast<std::uint16_t>(worker / workers_per_rank_),
                static_cast<std::uint16_t>(worker % workers_per_rank_)};
    }
    // Each worker gets a stretch of the groups of each kind. The LP in the middle of a group
    // determines the kind of the group.
    void distribute_groups(const Setup& setup, std::uint32_t groups, std::uint32_t workers,
                           const std::vector<double>& worker_shares = {});
    // Whether all LPs of each group start on one rank, according to Setup::rank_of.
    bool groups_are_of_one_rank(const Setup& setup, std::uint32_t ranks,
                                std::uint32_t groups) const;
    // part[lp] modulo `workers` is the worker, counted over all ranks, on which the LP starts.
    void distribute_by_parts(const std::vector<std::uint32_t>& part, std::uint32_t workers);

    std::uint32_t lps_;
    std::uint32_t workers_per_rank_;
    std::uint32_t lps_per_group_;
    // ⌈2^64 / lps_per_group⌉, used if lps_per_group > 1; exact for 32-bit slots.
    std::uint64_t group_reciprocal_;
    SlotMap slots_;
    std::vector<Owner> owners_;  // by group
};

}  // namespace nw
