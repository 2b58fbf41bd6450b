// Which groups should change their worker. Loads shift while a model runs (traffic jams wander, an
// epidemic spreads); a worker with too much to do holds GVT back, and the others' optimism is wasted.
//
// "NUMA Time Warp" (Pellegrini and Quaglia, PADS 2015, §3.5) leaves the policy to the engine. Ours is
// longest processing time first (Graham, "Bounds on multiprocessing timing anomalies", 1969), begun
// from what is bound already so that few groups move.
//
// A plan belongs to a GVT round: made when all workers have cut it, learnt by each with its result,
// carried out before the next cut. So every cut finds every group with exactly one worker, and
// neither GVT nor the ending needs to know that groups move (docs/decisions/0017).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

#include "gvt/contribution.hpp"
#include "rank/worker_seats.hpp"

namespace nw {

struct Group;

struct BoundGroup {
    std::uint32_t group;
    std::uint32_t worker;
    double load;  // nanoseconds of committed work since the last look
    bool stays = false;
};

struct GroupMove {
    std::uint32_t group;
    std::uint32_t from;
    std::uint32_t to;
    friend bool operator==(const GroupMove&, const GroupMove&) = default;
};

// The moves that bring the most loaded worker down by at least a tenth, or none. Groups go to workers
// of their own node as long as those have room. Requires: every worker < worker_nodes.size().
std::vector<GroupMove> plan_moves(std::span<const BoundGroup> groups,
                                  std::span<const NodeId> worker_nodes);

// Moves about this share of the groups to other workers, drawn from `seed`: --check-rebind.
std::vector<GroupMove> draw_moves(std::span<const BoundGroup> groups, std::uint32_t workers,
                                  double share, std::uint64_t seed);

// A rank's plans. Thread: make_plan by the holder of the net role; the plan is read by workers, which
// learn with a round's result that it stands.
class Rebinding {
  public:
    using Clock = std::chrono::steady_clock;

    struct Plan {
        std::uint32_t round = first_round;  // of GVT; this one: there was none yet
        std::vector<GroupMove> moves;
    };

    // interval_seconds 0: never. check_share > 0: moves are drawn and not planned. `over_ranks`: loads are
    // of interest even where there is one worker.
    // Requires: the seats outlive this.
    Rebinding(double interval_seconds, double check_share, std::uint64_t seed, bool over_ranks,
              const WorkerSeats& seats);

    // Whether loads should be measured at all.
    bool on() const noexcept { return is_measured_; }
    // Committed work of this rank between the last two looks: nanoseconds a second of a worker. Thread: any.
    std::uint64_t load() const noexcept { return load_.load(std::memory_order_relaxed); }

    // Groups with what they had to do between the last two looks, and who owns them now. Requires: nobody
    // executes.
    std::vector<BoundGroup> last_look(
        std::span<const std::unique_ptr<Group>> groups,
        const std::function<std::uint32_t(std::uint32_t g)>& owner) const;
    // What was counted says nothing any more: groups have come or gone.
    void begin_anew(Clock::time_point now, std::span<const std::unique_ptr<Group>> groups);
    // Since then.
    bool has_looked() const noexcept { return has_looked_; }

    // Requires: all workers have cut this round and none has learnt it. `owner(g)` is the worker of
    // group g. Cost: a comparison until a look is due, then a walk over the groups.
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
    const WorkerSeats& seats_;
    Clock::time_point last_look_{};
    bool has_looked_ = false;
    std::atomic<std::uint64_t> load_{0};
    std::vector<BoundGroup> bound_;
    Plan plan_;
};

}  // namespace nw
