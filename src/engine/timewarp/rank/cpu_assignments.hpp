// SPDX-License-Identifier: Apache-2.0
// Contains the CPUs that are assigned to workers, and the nodes of these CPUs. Also contains the
// orders of the placement policy to the workers, and data for the policy: the bytes of mail between
// each pair of assignments.
//
// The policy (engine/timewarp/placement_watch.hpp) gives orders during the run. Each worker carries
// out its orders between two turns (engine/timewarp/worker/relocation.hpp): it binds itself to its
// new CPU, and either requests the migration of its groups' pages or moves the pages itself.
//
// Ranks that run on the same cores of a host may have a common table of assignments (CpuTable) in
// shared memory. Then one of these ranks gives orders to the workers of all of them. Assignments
// are numbered over all of these ranks, in the order of the ranks. A rank's workers are numbered
// from 0, as everywhere.
//
// Thread: the thread of the placement policy calls order(), publish(), fetch(), set_crowded() and
// publish_cpu_times(). Worker w calls note_moved(), note_binding(), set_miss_counter(),
// set_clock(), remove_clock() and count_mail() for itself; before the workers start, the main
// thread calls note_moved(). Any thread may call the other functions. After orders() has returned a
// new number to a worker, ordered() and fetches() return the new orders to this worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <new>
#include <vector>

#include <numawarp/ids.hpp>

#include "plan/partition.hpp"

namespace nw {

// Zeroed memory is an empty table. All fields are lock-free, so the table may be in memory that
// processes share.
class CpuTable {
  public:
    // A CPU and its node in one word, so that a thread always reads both together. With this
    // alignment, clang reads the word without a call of libatomic.
    struct alignas(std::uint64_t) Where {
        // The CPU's number plus 1. 0: the worker is not bound to a CPU, or has no order yet.
        int cpu_and_1;
        NodeId node;
    };
    struct CpuAssignment {
        std::atomic<Where> now;
        std::atomic<Where> ordered;
        std::atomic<std::uint64_t> cpu_ns;
    };
    struct alignas(64) Orders {
        std::atomic<std::uint32_t> orders;
        std::atomic<std::uint32_t> fetches;
        std::atomic<bool> crowded;
    };
    static_assert(std::atomic<Where>::is_always_lock_free &&
                  std::atomic<std::uint64_t>::is_always_lock_free);

    static std::size_t bytes_for(std::uint32_t assignments) noexcept {
        return sizeof(Orders) + round_up(assignments * sizeof(CpuAssignment)) +
               assignments * row(assignments) * sizeof(std::uint64_t);
    }
    // Requires: `memory` is at the beginning of a cache line, contains bytes_for(assignments) bytes
    // of zeros, and outlives this object.
    CpuTable(void* memory, std::uint32_t assignments) noexcept
        : assignments_(assignments), begin_(static_cast<std::byte*>(memory)) {}

    std::uint32_t size() const noexcept { return assignments_; }
    Orders& orders() const noexcept { return *std::launder(reinterpret_cast<Orders*>(begin_)); }
    CpuAssignment& assignment(std::uint32_t s) const noexcept {
        return std::launder(reinterpret_cast<CpuAssignment*>(begin_ + sizeof(Orders)))[s];
    }
    // Bytes of mail from one worker to another so far.
    std::atomic<std::uint64_t>& mail(std::uint32_t from, std::uint32_t to) const noexcept {
        std::byte* const rows =
            begin_ + sizeof(Orders) + round_up(assignments_ * sizeof(CpuAssignment));
        return std::launder(
            reinterpret_cast<std::atomic<std::uint64_t>*>(rows))[from * row(assignments_) + to];
    }

  private:
    static std::size_t round_up(std::size_t bytes) noexcept { return (bytes + 63) / 64 * 64; }
    // Rows of different workers share no cache line.
    static std::size_t row(std::uint32_t assignments) noexcept { return (assignments + 7) / 8 * 8; }

    std::uint32_t assignments_;
    std::byte* begin_;
};

// The ranks that have a common table, in the order of their numbers, and the table's memory.
struct SharedCpuTable {
    std::vector<std::uint32_t> ranks;
    void* memory = nullptr;
};

class CpuAssignments {
  public:
    struct CpuAssignment {
        int cpu;  // −1: not bound to a CPU, or no order yet
        NodeId node;
        friend bool operator==(const CpuAssignment&, const CpuAssignment&) = default;
    };

    // `nodes`: the nodes of this rank's workers. Ranks that share assignments have the same number
    // of workers.
    explicit CpuAssignments(const std::vector<NodeId>& nodes, RankId rank = RankId{0},
                            const SharedCpuTable& shared = {})
        : workers_(static_cast<std::uint32_t>(nodes.size())),
          own_(shared.memory != nullptr ? nullptr : make_lines(workers_)),
          table_(own_ != nullptr ? own_.get() : shared.memory,
                 own_ != nullptr ? workers_
                                 : workers_ * static_cast<std::uint32_t>(shared.ranks.size())),
          miss_counters_(workers_),
          clocks_(workers_),
          refusals_(workers_) {
        std::vector<std::uint32_t> ranks{index(rank)};
        if (own_ == nullptr) ranks = shared.ranks;
        for (std::uint32_t i = 0; i < ranks.size(); ++i) {
            if (ranks[i] >= first_of_rank_.size())
                first_of_rank_.resize(ranks[i] + 1, not_in_table);
            first_of_rank_[ranks[i]] = i * workers_;
        }
        first_ = first_of_rank_[index(rank)];
        for (std::atomic<int>& handle : miss_counters_) handle.store(-1, std::memory_order_relaxed);
        for (std::uint32_t w = 0; w < workers_; ++w)
            assignment(w).now.store({0, nodes[w]}, std::memory_order_relaxed);
    }

    std::uint32_t workers() const noexcept { return workers_; }
    NodeId node_of(std::uint32_t w) const noexcept {
        return assignment(w).now.load(std::memory_order_relaxed).node;
    }
    std::vector<NodeId> nodes() const {
        std::vector<NodeId> nodes;
        for (std::uint32_t w = 0; w < workers(); ++w) nodes.push_back(node_of(w));
        return nodes;
    }

    // --- Thread: the thread of the placement policy, on one rank ---

    std::uint32_t size() const noexcept { return table_.size(); }
    // Whether this rank gives the orders.
    bool gives_orders() const noexcept { return first_ == 0; }
    // Takes effect with the next fetch() or publish().
    void order(std::uint32_t assignment, int cpu, NodeId node) noexcept {
        table_.assignment(assignment).ordered.store({cpu + 1, node}, std::memory_order_relaxed);
    }
    // Pairs with the acquire in orders().
    void publish() noexcept { table_.orders().orders.fetch_add(1, std::memory_order_release); }
    // Orders every worker to move the pages of its groups to the worker's node now, without the
    // daemon.
    void fetch() noexcept {
        table_.orders().fetches.fetch_add(1, std::memory_order_relaxed);
        publish();
    }
    // Records whether workers of different ranks have the same CPU now.
    void set_crowded(bool crowded) noexcept {
        table_.orders().crowded.store(crowded, std::memory_order_relaxed);
    }
    // Returns 0 if the kernel has bound all workers of this rank as ordered. Otherwise returns the
    // errno value with which the kernel has refused to bind one of these workers.
    int refusal() const noexcept {
        for (const std::atomic<int>& refusal : refusals_)
            if (const int error = refusal.load(std::memory_order_relaxed); error != 0) return error;
        return 0;
    }

    // --place strict: the errno value with which the kernel has refused to bind the memory of a
    // worker to its new node; 0: it has never refused.
    int memory_refusal() const noexcept { return memory_refusal_.load(std::memory_order_relaxed); }

    // bytes[a][b]: the bytes of mail that worker a has sent to worker b so far.
    std::vector<std::vector<double>> mail_bytes() const {
        std::vector<std::vector<double>> bytes(size(), std::vector<double>(size()));
        for (std::uint32_t a = 0; a < size(); ++a)
            for (std::uint32_t b = 0; b < size(); ++b)
                bytes[a][b] =
                    static_cast<double>(table_.mail(a, b).load(std::memory_order_relaxed));
        return bytes;
    }

    // Publishes the CPU times of this rank's workers.
    void publish_cpu_times() noexcept {
        for (std::uint32_t w = 0; w < workers_; ++w) {
            const clockid_t clock = clocks_[w].load(std::memory_order_relaxed);
            timespec used{};
            if (clock != no_clock && ::clock_gettime(clock, &used) == 0)
                assignment(w).cpu_ns.store(static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
                                               static_cast<std::uint64_t>(used.tv_nsec),
                                           std::memory_order_relaxed);
        }
    }
    // The sum over this rank's workers, as last published.
    std::uint64_t cpu_ns_of_workers() const noexcept {
        std::uint64_t ns = 0;
        for (std::uint32_t w = 0; w < workers_; ++w)
            ns += assignment(w).cpu_ns.load(std::memory_order_relaxed);
        return ns;
    }
    // The CPU of an assignment now; −1: not bound.
    int cpu_of_assignment(std::uint32_t s) const noexcept {
        return table_.assignment(s).now.load(std::memory_order_relaxed).cpu_and_1 - 1;
    }
    // The CPU time of its worker, as last published.
    std::uint64_t cpu_ns_of_assignment(std::uint32_t s) const noexcept {
        return table_.assignment(s).cpu_ns.load(std::memory_order_relaxed);
    }

    // −1: the machine does not count misses, or the policy does not need them.
    int miss_counter(std::uint32_t w) const noexcept {
        return miss_counters_[w].load(std::memory_order_relaxed);
    }
    std::uint64_t pages_fetched() const noexcept {
        return pages_fetched_.load(std::memory_order_relaxed);
    }
    // The CPU time that workers have taken to fetch pages.
    std::uint64_t fetch_ns() const noexcept { return fetch_ns_.load(std::memory_order_relaxed); }

    // --- Thread: worker w ---

    std::uint32_t orders() const noexcept {
        return table_.orders().orders.load(std::memory_order_acquire);
    }
    std::uint32_t fetches() const noexcept {
        return table_.orders().fetches.load(std::memory_order_relaxed);
    }
    bool crowded() const noexcept {
        return table_.orders().crowded.load(std::memory_order_relaxed);
    }
    CpuAssignment ordered(std::uint32_t w) const noexcept {
        const CpuTable::Where where = assignment(w).ordered.load(std::memory_order_relaxed);
        return {where.cpu_and_1 - 1, where.node};
    }
    int cpu_of(std::uint32_t w) const noexcept {  // −1: not bound
        return assignment(w).now.load(std::memory_order_relaxed).cpu_and_1 - 1;
    }
    // Records the assignment that the worker has now.
    void note_moved(std::uint32_t w, const CpuAssignment& place) noexcept {
        assignment(w).now.store({place.cpu + 1, place.node}, std::memory_order_relaxed);
    }
    // Records the result of binding the worker; 0: the kernel has bound it.
    void note_binding(std::uint32_t w, int error) noexcept {
        refusals_[w].store(error, std::memory_order_relaxed);
    }
    void note_memory_refusal(int error) noexcept {
        memory_refusal_.store(error, std::memory_order_relaxed);
    }
    // Records the handle of a kernel counter of the worker's cache misses.
    void set_miss_counter(std::uint32_t w, int handle) noexcept {
        miss_counters_[w].store(handle, std::memory_order_relaxed);
    }
    // The clock of the CPU time of the thread that executes the worker, for publish_cpu_times().
    // Requires: remove_clock() is called before this thread ends.
    void set_clock(std::uint32_t w, clockid_t clock) noexcept {
        clocks_[w].store(clock, std::memory_order_relaxed);
    }
    void remove_clock(std::uint32_t w) noexcept { set_clock(w, no_clock); }
    void count_fetched(std::uint64_t pages, std::uint64_t ns) noexcept {
        pages_fetched_.fetch_add(pages, std::memory_order_relaxed);
        fetch_ns_.fetch_add(ns, std::memory_order_relaxed);
    }
    // Counts mail to a worker of this rank or of a rank that shares the table. Other mail is not
    // counted. Only worker `from` writes its row.
    void count_mail(std::uint32_t from, Partition::Owner to, std::size_t bytes) noexcept {
        if (to.rank >= first_of_rank_.size() || first_of_rank_[to.rank] == not_in_table) return;
        std::atomic<std::uint64_t>& sum =
            table_.mail(first_ + from, first_of_rank_[to.rank] + to.worker);
        sum.store(sum.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    }

  private:
    static constexpr std::uint32_t not_in_table = UINT32_MAX;
    static constexpr clockid_t no_clock = CLOCK_REALTIME;

    struct FreeLines {
        void operator()(std::byte* lines) const noexcept {
            ::operator delete[](lines, std::align_val_t{64});
        }
    };
    using Lines = std::unique_ptr<std::byte[], FreeLines>;
    static Lines make_lines(std::uint32_t assignments) {
        const std::size_t bytes = CpuTable::bytes_for(assignments);
        Lines lines(new (std::align_val_t{64}) std::byte[bytes]{});
        return lines;
    }

    CpuTable::CpuAssignment& assignment(std::uint32_t w) const noexcept {
        return table_.assignment(first_ + w);
    }

    std::uint32_t workers_;
    Lines own_;  // null: the table is shared
    CpuTable table_;
    std::vector<std::uint32_t>
        first_of_rank_;        // by rank; not_in_table: the rank is not in this table
    std::uint32_t first_ = 0;  // this rank's first assignment
    std::vector<std::atomic<int>> miss_counters_;
    std::vector<std::atomic<clockid_t>> clocks_;  // by worker; no_clock: not set
    std::vector<std::atomic<int>> refusals_;      // by worker
    std::atomic<int> memory_refusal_{0};
    std::atomic<std::uint64_t> pages_fetched_{0};
    std::atomic<std::uint64_t> fetch_ns_{0};
};

}  // namespace nw
