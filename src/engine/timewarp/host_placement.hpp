// SPDX-License-Identifier: Apache-2.0
// Data that ranks on the same cores of a host share during a run: the table of assignments, and the
// page figures of each rank. The ranks share these data if one of them gives orders to the workers
// of all these ranks (PlacementChoice::moves_workers). The data are in memory that the processes
// share, so that no rank waits for another rank. MPI is not used, because it is needed for events
// at the same time.
//
// Ranks on other hosts, and ranks that a launcher has bound to other cores, have a separate table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/timewarp/rank/cpu_assignments.hpp"
#include "engine/worker_threads.hpp"
#include "net/rank_group.hpp"
#include "numa/os/shared_memory.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {

// Figures of a rank for the policy.
struct RankPages {
    std::map<NodeId, HomeMemory> homes;
    std::uint64_t migrated_bytes = 0;  // so far, by pagemigd and by workers that fetched pages
    std::uint64_t migration_ns = 0;    // CPU time of these migrations
    // CPU time so far of the threads of the process that are no workers.
    std::uint64_t other_threads_ns = 0;
};

class HostPlacement {
  public:
    HostPlacement() = default;  // nothing is shared
    // Collective. `place` is the same on all ranks. If it moves workers and the ranks cannot share
    // memory, for example between containers, adds a notice. Then no rank gives orders, because
    // several ranks could choose the same CPUs.
    HostPlacement(RankGroup& ranks, const PlacementChoice& place, const WorkerPlaces& where,
                  std::vector<std::string>& notices);

    const SharedCpuTable& assignments() const noexcept { return assignments_; }
    bool is_shared() const noexcept { return assignments_.memory != nullptr; }

    // Publishes this rank's figures, but only for nodes with numbers below published_nodes_max.
    // Thread: one thread of each rank.
    void publish(const RankPages& pages) noexcept;
    // Returns the sum over the sharing ranks, or nothing if a rank has not published figures yet.
    // Requires: is_shared().
    std::optional<RankPages> published() const;

    static constexpr std::size_t published_nodes_max = 64;

  private:
    struct Pages;

    Pages& pages_of(std::size_t number) const noexcept;

    SharedMemory memory_;
    SharedCpuTable assignments_;
    std::size_t number_ = 0;       // number of this rank among the sharing ranks
    std::size_t pages_begin_ = 0;  // offset in bytes
};

}  // namespace nw
