// One rank of a Time Warp run: what its workers share, and nothing of theirs. Made by the main thread;
// workers then own disjoint groups and meet only in the places named here.
//
//     mail of a group, ready list of a worker   any worker → owner
//     mail rings                                one worker → another
//     GVT rounds                                slots: their worker → net role; result: net role → all
//     net role                                  a try-lock; transport, outgoing batches, rebinding
//     owners of groups                          the old and the new owner in turn → all
//     handed-over groups of a worker            old owner → new owner, under a mutex
//     sleepers                                  any thread wakes, who sleeps is asked first
//     failure                                   first to come, under a mutex
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/spin_lock.hpp"
#include "event/event_key.hpp"
#include "event/ready_list.hpp"
#include "gvt/gvt_rounds.hpp"
#include "gvt/sleepers.hpp"
#include "net/exchange.hpp"
#include "plan/memory_budget.hpp"
#include "plan/partition.hpp"
#include "rank/rank_balance.hpp"
#include "rank/rebinding.hpp"
#include "rank/worker_seats.hpp"
#include "stats/trace.hpp"

namespace nw {

class BottomHalf;
class MailBuffer;
class MailRing;
class MemorySource;
class Os;
class OutputWriter;
class RunHistory;
struct AddressRange;
struct Group;
struct LiveProgress;
struct LpRecord;
struct RunPlan;

// Groups on their way from one worker to another, with all that the old owner kept for them.
struct Handover {
    std::vector<Group*> groups;
    std::vector<PendingEntry> pending;   // events for their LPs
    std::vector<LpRecord*> uncommitted;  // of their LPs
};

class Rank {
  public:
    // `worker_nodes`: the NUMA node of each worker; none given: all on node 0. `shared_seats`: what this
    // rank has in common with others of its host.
    Rank(const RunPlan& plan, Transport& transport, MemorySource& memory, OutputWriter& output,
         LiveProgress& progress, const std::atomic<int>& stop_signal,
         const std::vector<NodeId>& worker_nodes = {}, const SharedSeats& shared_seats = {});
    ~Rank();
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    const RunPlan& plan() const noexcept { return plan_; }
    GvtRounds& gvt() noexcept { return gvt_; }
    OutputWriter& output() noexcept { return output_; }
    Group* group(std::uint32_t g) noexcept { return groups_[g].get(); }
    // The owner of a group, here or on another rank. While a group is handed over it has none, and
    // this is unlike every worker.
    Partition::Owner owner(std::uint32_t g) const noexcept {
        return owners_[g].load(std::memory_order_relaxed);
    }
    RankId id() const noexcept;
    std::size_t batch_bytes() const noexcept { return batch_bytes_; }
    // Where the threads of workers have their stacks: each writes its own before a barrier.
    std::vector<AddressRange>& stacks() noexcept { return stacks_; }
    int stop_signal() const noexcept { return stop_signal_.load(std::memory_order_relaxed); }

    // A worker's groups are made in its own thread, so that their pages are born beside it.
    Group& make_group(std::uint32_t g);
    // Between ranks, while all workers stand still. The group's memory goes; and every rank learns who owns a
    // group now.
    void drop_group(std::uint32_t g);
    void set_owner(std::uint32_t g, Partition::Owner owner) noexcept {
        owners_[g].store(owner, std::memory_order_relaxed);
    }
    std::vector<BoundGroup> loads() const {
        return rebinding_.last_look(groups_, [this](std::uint32_t g) { return owner(g).worker; });
    }
    bool has_looked_at_loads() const noexcept { return rebinding_.has_looked(); }
    void measure_loads_anew(GvtRounds::Clock::time_point now) {
        rebinding_.begin_anew(now, groups_);
    }

    // While groups are built: takes in what has come, for the first net_step().
    void receive_early();

    // Thread: any worker, between events. Takes the net role if it is free and moves what there is
    // to move: batches out and in, the GVT round. `trace` is the calling thread's, begun at `now`.
    // Returns whether something is under way that only another step will find.
    bool net_step(GvtRounds::Clock::time_point now, TraceTurn& trace);

    // Hands a closed batch for another rank to the net role.
    void send_batch(RankId destination, const MailBuffer& batch);
    // Whether more batches wait to be sent to other ranks than the rank should hold. Thread: any.
    bool is_congested() const noexcept;

    // Nobody moves anything between ranks while it is held: main threads may speak. Requires: no worker runs.
    std::unique_lock<SpinLock> hold_network() { return std::unique_lock(net_role_); }

    // Puts wire events into the bottom halves of their groups. Requires: this rank owns them.
    void deliver(const std::byte* events, std::size_t size);
    // Wakes worker w if it sleeps and may execute an event at that time. Thread: any, after it has published the event.
    void wake_for(std::uint32_t w, VirtualTime time) { sleepers_.wake_for(w, time); }

    ReadyList& ready_list(std::uint32_t w) noexcept { return ready_lists_[w]; }
    // Thread: worker w, before any worker sends. Ranks with many workers have no rings, because each pair needs one.
    void make_rings_to(std::uint32_t w);
    // Thread: worker w. One ring from each worker of the rank, by its number; none at all where mail takes the bottom halves.
    std::span<MailRing> rings_to(std::uint32_t w) noexcept;
    // Null: there is none.
    MailRing* ring(std::uint32_t from, std::uint32_t to) noexcept;
    // To the worker that gets the mail of its group now. Requires: it is on nobody's ready list, as its
    // flag says that it is on one.
    void pass_on(BottomHalf& mail);

    // Thread: worker w, which has cut the open round and has nothing else to do; `seen`: rounds whose
    // result it knows. Sleeps until there is mail with events before `horizon`, or something to do for the round.
    void sleep(std::uint32_t w, std::uint32_t seen, VirtualTime horizon, TraceTurn& trace);
    bool may_sleep(std::uint32_t w) const noexcept { return sleepers_.may_sleep(w); }

    // The worker that gets the mail of a group: its owner, or the one that is about to own it.
    Partition::Owner addressee(std::uint32_t g) const noexcept {
        Partition::Owner owner = this->owner(g);
        owner.worker &= static_cast<std::uint16_t>(~in_transit);
        return owner;
    }

    // Rebinding. The plan of the round whose result was learnt last, if it has one.
    const Rebinding& rebinding() const noexcept { return rebinding_; }
    WorkerSeats& seats() noexcept { return seats_; }
    // Thread: worker 0 of the first rank.
    RankBalance& balance() noexcept { return balance_; }
    // Thread: the groups' owner, which gives up everything that belongs to them.
    void hand_over(Handover&& handover, std::uint32_t to);
    // Thread: worker w. What was handed over to it since the last call; it owns that now. Who finds
    // a group's mail on its ready list, and does not own the group, finds it here: the mail went
    // there because the handover had been posted. Or it has handed the group over itself.
    std::vector<Handover> take_over(std::uint32_t w);

    // Ends the run at once.
    void fail(std::exception_ptr failure);
    // A final event has failed. The rank keeps the failure of the earliest event. The next GVT round tells all workers
    // of all ranks that an event has failed (Worker::end_failed()).
    void fail_in_model(const EventKey& key, const std::string& message);
    // The earliest event of this rank that has failed; an infinite time: none has.
    EventKey model_failed_at();
    // Without a lock. Whether model_failed_at() is finite.
    bool model_failed() const noexcept { return model_failed_.load(std::memory_order_acquire); }
    // All workers leave their event loops, and none calls the model any more.
    void stop() noexcept;
    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    // Throws the failure of this rank, if there is one.
    void rethrow_failure();

    LiveProgress& progress() noexcept { return progress_; }
    // Thread: worker 0.
    RunHistory& history() noexcept { return *history_; }

    // The most spans of a track; 0 if no trace is wanted.
    std::size_t trace_spans_max() const noexcept;
    // The GVT rounds. Requires: nobody executes.
    TraceTrack& trace() noexcept { return trace_; }

    MemoryBudget& memory_budget() noexcept { return memory_budget_; }
    Os& os() noexcept;

  private:
    // Thread: worker w.
    bool has_mail(std::uint32_t w) noexcept;
    void bind(const Group& group, std::uint32_t worker) noexcept;

    const RunPlan& plan_;
    Transport& transport_;
    Exchange exchange_;
    const std::size_t batch_bytes_;
    MemorySource& memory_;
    MemoryBudget memory_budget_;
    OutputWriter& output_;
    LiveProgress& progress_;
    std::unique_ptr<RunHistory> history_;
    const std::atomic<int>& stop_signal_;
    GvtRounds gvt_;

    std::vector<std::unique_ptr<Group>> groups_;         // by global number; null where not ours
    static constexpr std::uint16_t in_transit = 0x8000;  // in Owner::worker, on top of the receiver
    std::vector<std::atomic<Partition::Owner>> owners_;
    std::vector<ReadyList> ready_lists_;              // by worker
    const std::size_t ring_count_;                    // to each worker
    std::vector<std::unique_ptr<MailRing[]>> rings_;  // by reader
    Sleepers sleepers_;
    WorkerSeats seats_;
    std::vector<AddressRange> stacks_;  // by worker
    std::mutex handover_mutex_;
    std::vector<std::vector<Handover>> handed_over_;  // by receiver, under handover_mutex_

    SpinLock net_role_;  // by try_lock only
    Rebinding rebinding_;
    RankBalance balance_;
    TraceTrack trace_;                            // under the net role
    TraceTrack::Clock::time_point round_over_{};  // the same; when trace_'s last span ended

    std::atomic<bool> failed_{false};
    std::atomic<bool> model_failed_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    EventKey model_failed_at_{time_infinity, 0, 0, 0};
};

}  // namespace nw
