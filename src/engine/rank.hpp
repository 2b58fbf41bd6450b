// One rank of a Time Warp run: what its workers share. Made by the main thread; workers then own
// disjoint groups and meet only in the places named here.
//
//     mail of a group, ready list of a worker   any worker → owner
//     GVT rounds                                slots: their worker → net role; result: net role → all
//     net role                                  a try-lock; transport and outgoing batches
//     failure                                   first to come, under a mutex
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/group.hpp"
#include "engine/output_writer.hpp"
#include "engine/run_plan.hpp"
#include "engine/simulation.hpp"
#include "gvt/gvt_rounds.hpp"
#include "net/transport.hpp"

namespace nw {

class Worker;

class Rank {
  public:
    Rank(const RunPlan& plan, Transport& transport, MemorySource& memory, OutputWriter& output,
         LiveProgress& progress, const std::atomic<int>& stop_signal);
    ~Rank();

    const RunPlan& plan() const noexcept { return plan_; }
    GvtRounds& gvt() noexcept { return gvt_; }
    OutputWriter& output() noexcept { return output_; }
    Worker& worker(std::uint32_t w) noexcept { return *workers_[w]; }
    Group* group(std::uint32_t g) noexcept { return groups_[g].get(); }
    Partition::Owner owner(std::uint32_t g) const noexcept { return owners_[g]; }
    RankId id() const noexcept { return transport_.rank(); }
    int stop_signal() const noexcept { return stop_signal_.load(std::memory_order_relaxed); }

    // A worker's groups are made in its own thread, so that their pages are born beside it.
    Group& make_group(std::uint32_t g);

    // Thread: any worker, between events. Takes the net role if it is free and moves what there is
    // to move: batches out and in, the GVT round.
    void net_step(GvtRounds::Clock::time_point now);

    // Hands a closed batch for another rank to the net role.
    void send_batch(RankId destination, const MailBuffer& batch);

    // Puts wire events into the bottom halves of their groups. Requires: this rank owns them.
    void deliver(const std::byte* events, std::size_t size);

    ReadyList& ready_list(std::uint32_t w) noexcept { return ready_lists_[w]; }

    // The first failure ends the run; of model failures the one earliest in virtual time is kept.
    void fail(std::exception_ptr failure);
    void fail_in_model(const EventKey& key, std::string message);
    std::optional<EventKey> model_failure_key();  // of what fail_in_model() has kept
    bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    void rethrow_failure();

    LiveProgress& progress() noexcept { return progress_; }

    // Whether the process holds so much of the memory that it may take that workers should run ahead
    // only in what they already have. Cost: a comparison until segments come near the cap, then a
    // look at the kernel's figures now and then.
    bool near_memory_cap(GvtRounds::Clock::time_point now) noexcept;

  private:
    const RunPlan& plan_;
    Transport& transport_;
    MemorySource& memory_;
    OutputWriter& output_;
    LiveProgress& progress_;
    const std::atomic<int>& stop_signal_;
    GvtRounds gvt_;

    std::vector<std::unique_ptr<Group>> groups_;  // by global number; null where not ours
    std::vector<Partition::Owner> owners_;
    std::vector<ReadyList> ready_lists_;  // by worker
    std::vector<std::unique_ptr<Worker>> workers_;

    SpinLock net_role_;  // by try_lock only
    struct OutgoingBatch {
        RankId destination;
        std::vector<std::byte> bytes;
    };
    std::mutex outgoing_mutex_;
    std::vector<OutgoingBatch> outgoing_;
    std::atomic<bool> has_outgoing_{false};

    std::atomic<GvtRounds::Clock::rep> resident_seen_at_{0};
    std::atomic<bool> resident_near_cap_{false};

    std::atomic<bool> failed_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::optional<EventKey> failure_key_;
};

}  // namespace nw
