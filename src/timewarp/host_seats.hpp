// What ranks that run on the same cores of a host have in common while they run, where one of them decides
// for all (`--place asymsched`): the table of seats, and what each tells that one of its pages. In memory
// that their processes share, so that nobody waits for anybody: MPI is busy with events.
//
// Ranks on other hosts, and those that a launcher has bound to other cores, have a table of their own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/worker_threads.hpp"
#include "net/rank_group.hpp"
#include "numa/os/shared_memory.hpp"
#include "numa/place/placement_policy.hpp"
#include "rank/worker_seats.hpp"

namespace nw {

// What a rank knows of its pages.
struct RankPages {
    std::map<NodeId, HomeMemory> homes;
    std::uint64_t migrated_bytes = 0;  // so far, by pagemigd and by workers that fetched
    std::uint64_t migration_ns = 0;    // CPU time of that
};

class HostSeats {
  public:
    HostSeats() = default;  // nothing is shared
    // Collective if `wanted`, which is everywhere the same. Where memory cannot be shared, as between
    // containers, it says so: nobody decides then, lest ranks choose the same CPUs.
    HostSeats(RankGroup& ranks, bool wanted, const WorkerPlaces& where,
              std::vector<std::string>& notices);

    const SharedSeats& seats() const noexcept { return seats_; }
    bool is_shared() const noexcept { return seats_.memory != nullptr; }

    // Thread: one of each rank. Nodes beyond nodes_told are left out.
    void tell(const RankPages& pages) noexcept;
    // The sum of what all have told, or nothing if somebody has not yet. Requires: is_shared().
    std::optional<RankPages> told() const;

    static constexpr std::size_t nodes_told = 64;

  private:
    struct Pages;

    Pages& pages_of(std::size_t number) const noexcept;

    SharedMemory memory_;
    SharedSeats seats_;
    std::size_t number_ = 0;       // of this rank among those that share
    std::size_t pages_begin_ = 0;  // bytes into the memory
};

}  // namespace nw
