// SPDX-License-Identifier: Apache-2.0
// One rank of a Time Warp run: the data that its workers share, and no data of a single worker. The
// main thread creates the Rank. Workers own disjoint groups. They exchange data only through the
// following objects, and through the objects that ThreadedRank lists. An arrow points from the
// writing thread to the reading thread:
//
//     mail of a group, ready list of a worker   any worker → owner
//     mail rings                                one worker → another
//     GVT rounds                                slots: their worker → net role;
//                                               result: net role → all
//     rebinding                                 net role → all, with the result of a round
//     owners of groups                          the old and the new owner in turn → all
//     handed-over groups of a worker            old owner → new owner, under a mutex
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/memory_budget.hpp"
#include "engine/threaded_rank.hpp"
#include "engine/timewarp/rank/cpu_assignments.hpp"
#include "engine/timewarp/rank/rank_balance.hpp"
#include "engine/timewarp/rank/rebinding.hpp"
#include "event/ready_list.hpp"
#include "gvt/gvt_rounds.hpp"
#include "plan/partition.hpp"
#include "results/statistics/trace.hpp"
#include "util/locks.hpp"

namespace nw {

class BottomHalf;
class MailBuffer;
class MailRing;
class MemorySource;
class Os;
class OutputWriter;
struct AddressRange;
struct Group;
struct Handover;

class Rank final : public ThreadedRank {
  public:
    // `worker_nodes`: the NUMA node of each worker; empty: all workers are on node 0.
    // `shared_cpu_table`: the assignments that this rank shares with other ranks of its host.
    Rank(const RunPlan& plan, Transport& transport, MemorySource& memory, OutputWriter& output,
         LiveProgress& progress, const std::atomic<int>& stop_signal,
         const std::vector<NodeId>& worker_nodes = {}, const SharedCpuTable& shared_cpu_table = {});
    ~Rank();

    GvtRounds& gvt() noexcept { return gvt_; }
    bool is_round_under_way() const noexcept { return gvt_.is_under_way(); }
    OutputWriter& output() noexcept { return output_; }
    Group* group(std::uint32_t g) noexcept { return groups_[g].get(); }
    // The owner of a group, on this rank or another one. While a group is handed over, it has no
    // owner, and the result differs from every worker.
    Partition::Owner owner(std::uint32_t g) const noexcept {
        return owners_[g].load(std::memory_order_relaxed);
    }
    // The stacks of the workers' threads. Each worker writes its own entry before a barrier.
    std::vector<AddressRange>& stacks() noexcept { return stacks_; }

    // Thread: the worker that will own the group, so that first touch puts the group's pages on the
    // worker's node.
    Group& make_group(std::uint32_t g);
    // For a change of the engine: put_group() stores a group that the previous engine has made, and
    // take_group() returns a group for the next engine.
    Group& put_group(std::unique_ptr<Group> group);
    std::unique_ptr<Group> take_group(std::uint32_t g) noexcept;
    // For moves of groups between ranks. Requires: all workers are paused. drop_group() frees the
    // group's memory. Every rank sets the new owner of each group that moves.
    void drop_group(std::uint32_t g);
    void set_owner(std::uint32_t g, Partition::Owner owner) noexcept {
        owners_[g].store(owner, std::memory_order_relaxed);
    }
    std::vector<BoundGroup> loads() const {
        return rebinding_.last_sample(groups_, [this](std::uint32_t g) { return owner(g).worker; });
    }
    bool has_sampled_loads() const noexcept { return rebinding_.has_sampled(); }
    void measure_loads_anew(GvtRounds::Clock::time_point now) {
        rebinding_.begin_anew(now, groups_);
    }

    // Thread: any worker, between events. Takes the net role if it is free, sends and receives
    // batches, and advances the GVT round. `trace` belongs to the calling thread, and began at
    // `now`. Returns whether the caller should soon repeat the call. There are three reasons:
    // another thread holds the net role, the open round waits for batches of other ranks, or
    // batches wait to be sent.
    bool net_step(GvtRounds::Clock::time_point now, TraceTurn& trace);
    void net_step();  // without a track

    // Any worker may post batches to the exchange. The holder of the net role sends and receives
    // batches.
    Exchange& exchange() noexcept { return exchange_; }
    // Whether the number of batches that wait to be sent to other ranks is above its limit. Thread:
    // any.
    bool is_congested() const noexcept;

    // Puts wire events into the bottom halves of their groups. Requires: this rank owns the groups.
    void deliver(const std::byte* events, std::size_t size);
    // Wakes worker w if it sleeps and may execute an event at that time. Thread: any thread that
    // has published such an event.
    void wake_for(std::uint32_t w, VirtualTime time) { sleepers_.wake_for(w, time); }

    ReadyList& ready_list(std::uint32_t w) noexcept { return ready_lists_[w]; }
    // Thread: worker w, before any worker sends. Ranks with many workers have no rings, because
    // each pair of workers would need a ring in each direction.
    void make_rings_to(std::uint32_t w);
    // Thread: worker w. Returns one ring from each worker of the rank, indexed by the number of
    // this worker. Empty if mail uses only the bottom halves.
    std::span<MailRing> rings_to(std::uint32_t w) noexcept;
    // Null: there are no rings.
    MailRing* ring(std::uint32_t from, std::uint32_t to) noexcept;
    // Puts a bottom half on the ready list of the worker that now gets the mail of the group.
    // Requires: the bottom half is on no ready list, although its flag marks it as listed.
    void pass_on(BottomHalf& mail);

    // Thread: worker w, if it has cut the open round and has nothing else to do. `seen`: the number
    // of rounds whose result the worker has read. Returns whether there is mail, or work for the
    // round. If worker w serves the network, the call also advances the network.
    bool has_work(std::uint32_t w, std::uint32_t seen, TraceTurn& trace);

    // The worker that gets the mail of a group: its owner, or its next owner during a handover.
    Partition::Owner addressee(std::uint32_t g) const noexcept {
        Partition::Owner owner = this->owner(g);
        owner.worker &= static_cast<std::uint16_t>(~in_transit);
        return owner;
    }

    // Contains the plan of the round whose result was published last, if this round has a plan.
    const Rebinding& rebinding() const noexcept { return rebinding_; }
    CpuAssignments& assignments() noexcept { return assignments_; }
    // Thread: worker 0 of the first rank.
    RankBalance& balance() noexcept { return balance_; }
    // Thread: the groups' owner, which does not access the groups' data after the call.
    void hand_over(Handover&& handover, std::uint32_t to);
    // Thread: worker w. Returns the groups that were handed over to w since the last call. From now
    // on, w owns these groups. If the ready list of w contains a bottom half whose group w does not
    // own, there are two cases. Either this function returns the group, because mail goes to w only
    // after the handover was posted. Or w itself has handed the group over to another worker.
    std::vector<Handover> take_over(std::uint32_t w);

    // Sets the rank's part of worker w's contribution to a GVT round: the stop signal and the
    // earliest failed event; if w is 0, also the memory in use and the load.
    void contribute(std::uint32_t w, Contribution& sums);

    // The maximum number of spans per track; 0 without --trace.
    std::size_t trace_spans_max() const noexcept;
    // The track of GVT rounds. Requires: no worker executes.
    TraceTrack& trace() noexcept { return trace_; }

    MemoryBudget& memory_budget() noexcept { return memory_budget_; }
    Os& os() noexcept;

  private:
    // The result of step().
    struct NetStep {
        bool is_expecting = false;  // the call should soon be repeated
        bool is_over = false;       // this step has completed a round
        std::string overdue;        // a warning, or empty
    };
    NetStep step(GvtRounds::Clock::time_point now, TraceTurn& trace) NW_REQUIRES(net_role_);
    void announce_model_failure() noexcept override;
    // Thread: worker w.
    bool has_mail(std::uint32_t w) noexcept;
    void bind(const Group& group, std::uint32_t worker) noexcept;

    MemorySource& memory_;
    MemoryBudget memory_budget_;
    OutputWriter& output_;
    GvtRounds gvt_;

    std::vector<std::unique_ptr<Group>> groups_;         // by global number; null: on another rank
    static constexpr std::uint16_t in_transit = 0x8000;  // flag in Owner::worker
    std::vector<std::atomic<Partition::Owner>> owners_;
    std::vector<ReadyList> ready_lists_;              // by worker
    const std::size_t ring_count_;                    // number of rings to each worker
    std::vector<std::unique_ptr<MailRing[]>> rings_;  // by reader
    CpuAssignments assignments_;
    std::vector<AddressRange> stacks_;  // by worker
    Mutex handover_mutex_;
    std::vector<std::vector<Handover>> handed_over_ NW_GUARDED_BY(handover_mutex_);  // by receiver

    Rebinding rebinding_;
    RankBalance balance_;
    TraceTrack trace_;  // used under the net role, until no worker executes
    TraceTrack::Clock::time_point round_over_ NW_GUARDED_BY(net_role_){};  // end of the last span
};

}  // namespace nw
