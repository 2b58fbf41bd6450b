// SPDX-License-Identifier: Apache-2.0
// Moves groups between ranks during a pause, in which all workers of all ranks have stopped. All
// ranks share the loads of their groups and compute the same plan
// (engine/timewarp/rank/rank_balance.hpp). Each worker packs its groups that leave, the ranks
// exchange the packed groups, and the new workers unpack them. No message is in flight during the
// pause, so only the table of owners has to be updated.
//
// Thread: all workers call move() at the same time, and wait for each other at barriers inside
// move().
#pragma once

#include <barrier>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine_run.hpp"
#include "engine/timewarp/rank/rank_balance.hpp"
#include "engine/timewarp/worker/worker.hpp"
#include "memory/image/outside_pointers.hpp"
#include "numa/os/modules.hpp"

namespace nw {

struct StrayPointers;

class GroupMover {
  public:
    // `workers`: the workers of this rank. `barrier`: the barrier at which all these workers wait.
    // `release_groups`: called before groups move. After this call, and until `watch_groups` is
    // called, no other thread accesses the groups. In this time the constructors of LPs may run.
    GroupMover(EngineRun& run, Rank& rank, const Workers& workers, std::barrier<>& barrier,
               std::function<void()> release_groups, std::function<void()> watch_groups);

    // Thread: each worker. Requires: all workers are paused(), and worker 0 holds the network.
    // Throws nothing: if a step fails, move() marks the rank as failed.
    void move(std::uint32_t worker);

  private:
    void plan();
    void take_batch();
    std::vector<RankLoads> share_loads();
    void compare_addresses();
    void pack(std::uint32_t worker);
    void remove_staying_groups();
    void pass_on();
    void unpack(std::uint32_t worker);
    void note();
    void note_price() noexcept;
    bool may_leave(const StrayPointers& strays) const noexcept;
    bool is_own(Partition::Owner owner) const noexcept;

    EngineRun& run_;
    Rank& rank_;
    const Workers& workers_;
    std::barrier<>& barrier_;
    const std::function<void()> release_groups_;
    const std::function<void()> watch_groups_;
    const std::vector<LoadedModule> modules_ = loaded_modules();
    // True: program and libraries have the same addresses on all ranks.
    std::optional<bool> addresses_agree_;
    std::uint32_t pauses_ = 0;
    double ns_per_byte_;  // measured, or assumed at first
    bool staying_reported_ = false;
    // State of the current pause.
    std::uint64_t bytes_passed_ = 0;  // of the groups that arrived or left
    double seconds_passing_ = 0;
    std::optional<AddressMap> map_;
    std::vector<RankMove> planned_;
    std::size_t groups_moved_ = 0;
    // The current batch of moves. A batch has a limited size, because its groups may be in memory
    // twice. Written by worker 0, between two barriers.
    std::vector<RankMove> moves_;
    // For each move: the packed group that leaves or arrives.
    std::vector<std::optional<std::string>> parcels_;
};

}  // namespace nw
