// Moves groups between ranks while every worker of every rank stands still. All ranks say what their groups had
// to do, and come to the same plan (rank/rank_balance.hpp); each worker packs those of its groups that
// leave, the ranks pass them on, and their new workers unpack them. Nothing is under way meanwhile, so nobody
// has to be told of it but by the table of owners.
//
// Thread: move() by all workers at once, which wait for each other in it.
#pragma once

#include <barrier>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engines.hpp"
#include "numa/image/outside_pointers.hpp"
#include "numa/os/modules.hpp"
#include "rank/rank_balance.hpp"
#include "timewarp/worker.hpp"

namespace nw {

class GroupMover {
  public:
    // `workers`: of this rank; `barrier`: of all of them. `let_go`: from then on nobody else may look at groups, and
    // LPs' constructors run; `take_up`: as before.
    GroupMover(EngineRun& run, Rank& rank, const Workers& workers, std::barrier<>& barrier,
               std::function<void()> let_go, std::function<void()> take_up);

    // Thread: each worker, when all are paused(), one of them holding the network. If anything goes wrong
    // the rank has failed.
    void move(std::uint32_t worker);

  private:
    void plan();
    void take_batch();
    std::vector<RankLoads> share_loads();
    void compare_addresses();
    void pack(std::uint32_t worker);
    void strike_what_stays();
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
    const std::function<void()> let_go_;
    const std::function<void()> take_up_;
    const std::vector<LoadedModule> modules_ = loaded_modules();
    std::optional<bool> addresses_agree_;  // of program and libraries, on all ranks
    std::uint32_t pauses_ = 0;
    double ns_per_byte_;  // as measured
    bool stays_said_ = false;
    // What belongs to the pause under way.
    std::uint64_t bytes_passed_ = 0;  // of the groups that came or went
    double seconds_passing_ = 0;
    std::optional<AddressMap> map_;
    std::vector<RankMove> planned_;
    std::size_t groups_moved_ = 0;
    // As many of them at a time as may be in memory twice; by worker 0, between two barriers.
    std::vector<RankMove> moves_;
    std::vector<std::optional<std::string>> parcels_;  // by move; of those that leave or come
};

}  // namespace nw
