// SPDX-License-Identifier: Apache-2.0
// A simulated kernel for tests: any number of nodes and cores, faults on request, and a record of
// the calls that enum Call lists. The address space is real (mmap), so that the tested code runs
// unchanged. Nodes, placement and free memory are simulated.
//
// Thread: any, also several at the same time. While the topology is set or records() is read, no
// other thread may use the object.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "numa/os/os.hpp"

namespace nw {

class FakeOs : public Os {
  public:
    enum class Call : std::uint8_t {
        reserve,
        unreserve,
        set_access,
        discard,
        advise_huge,
        bind_thread,
        prefer_local_memory,
        require_memory_of,
        interleave_new_pages,
        move_pages,
        query_pages,
        open_counter,
        read_counter,
        close_counter,
    };

    struct Record {
        Call call;
        const void* address = nullptr;  // the first page, for move_pages and query_pages
        std::size_t bytes = 0;
        // Depends on the call: CPU, target node, huge pages on (1) or off (0), weighted (1) or not
        // (0), Access, or HardwareCounter.
        int argument = 0;
        Status status = 0;
    };

    // CPU c is on node c / (cores_per_node · threads_per_core); each node starts with
    // `free_bytes_per_node`.
    FakeOs(int nodes, int cores_per_node, int threads_per_core = 1,
           std::uint64_t free_bytes_per_node = std::uint64_t{1} << 30);

    // --- set by the test ---

    // The next `count` calls of the kind fail with `status` and do nothing.
    void fail_next(Call call, Status status, std::size_t count = 1);
    // A reservation of more bytes fails with ENOMEM, as under `ulimit -v`.
    void set_reserve_bytes_max(std::size_t bytes) { reserve_bytes_max_ = bytes; }
    void set_mappings_max(std::size_t mappings) { mappings_max_ = mappings; }
    // May be called at any time.
    void set_allowed_cpus(std::vector<int> cpus);
    void set_free_bytes(NodeId node, std::uint64_t bytes);
    // Adds a node with memory and without CPUs. The distance to every node is 20 by default.
    NodeId add_memory_only_node(std::uint64_t free_bytes);
    // The node keeps its CPUs and loses its memory.
    void take_memory_away(NodeId node) { memoryless_.insert(node); }
    void set_distance(NodeId from, NodeId to, int distance) { distances_[{from, to}] = distance; }
    void set_firmware_bandwidth(NodeId cpu, NodeId memory, double mb_s) {
        firmware_bandwidths_[{cpu, memory}] = mb_s;
    }
    // Indexed by node; empty: this kernel has no weighted interleaving.
    void set_interleave_weights(std::vector<std::uint32_t> weights) {
        interleave_weights_ = std::move(weights);
    }
    // Acts like a machine without /proc: the number of mappings and the memory cannot be read.
    void hide_memory() { hides_memory_ = true; }
    void set_cpu_use(int cpu, const CpuUse& use) {
        const std::lock_guard lock(mutex_);
        cpu_use_[cpu] = use;
    }
    // Whether another run has its turn to move workers.
    void set_turn_of_another(bool is_on) { turn_of_another_ = is_on; }
    void set_kernel_balances_nodes(bool on) { kernel_balances_nodes_ = on; }
    void set_memory(const MemoryFigures& figures);
    // Sets the value of the counter, which is 0 before the first call. The handle of a counter is
    // the counter's number.
    void set_reading(HardwareCounter counter, const CounterReading& reading);
    // The page is touched and placed on the node, if the node has a free page. Requires: the page
    // has write access.
    void touch(const void* page, NodeId node);
    // The next `count` moves of the page return −EBUSY.
    void set_busy(const void* page, std::size_t count = 1);
    // After the page was touched, every move of the page returns this negative errno.
    void set_immovable(const void* page, int status);

    // --- read by the test ---

    const std::vector<Record>& records() const noexcept { return records_; }
    std::size_t count(Call call) const noexcept;
    bool has_turn() const noexcept { return has_turn_; }
    std::size_t reserved_ranges() const noexcept { return reserved_.size(); }
    // True if the page allows no access. Reserved pages start without access.
    bool is_closed(const void* page) const noexcept { return access_of(page) == Access::none; }
    // Pages that were not reserved have write access.
    Access access_of(const void* page) const noexcept;
    // Number of mappings of the reserved memory: ranges of equal access.
    std::size_t mapping_count() const noexcept;

    // --- Os ---

    Status reserve(void* address, std::size_t bytes, void*& result) noexcept override;
    Status unreserve(void* address, std::size_t bytes) noexcept override;
    Status set_access(void* address, std::size_t bytes, Access access) noexcept override;
    std::size_t mappings_max() noexcept override { return mappings_max_; }
    Status discard(void* address, std::size_t bytes) noexcept override;
    Status advise_huge(void* address, std::size_t bytes, bool on) noexcept override;
    std::vector<Cpu> allowed_cpus() override;
    NodeId node_of_cpu(int cpu) noexcept override;
    std::vector<int> thread_cpus() override;
    std::vector<NodeId> nodes() override;
    std::uint64_t free_bytes(NodeId node) noexcept override;
    std::uint64_t total_bytes(NodeId node) noexcept override;
    int distance(NodeId from, NodeId to) noexcept override;
    double firmware_bandwidth(NodeId cpu, NodeId memory) noexcept override;
    bool kernel_balances_nodes() noexcept override { return kernel_balances_nodes_; }
    std::map<int, CpuUse> cpu_use() override {
        const std::lock_guard lock(mutex_);
        return cpu_use_;
    }
    Status take_turn() noexcept override {
        has_turn_ = !turn_of_another_;
        return has_turn_ ? 0 : EBUSY;
    }
    void end_turn() noexcept override { has_turn_ = false; }
    Status bind_thread(int cpu) noexcept override;
    Status prefer_local_memory() noexcept override;
    Status require_memory_of(NodeId node) noexcept override;
    void take_short_time_slices() noexcept override {}
    Status interleave_new_pages(void* address, std::size_t bytes, std::span<const NodeId> nodes,
                                bool weighted) noexcept override;
    std::vector<std::uint32_t> interleave_weights(std::span<const NodeId> nodes) override;
    Status move_pages(std::span<void* const> pages, NodeId target,
                      std::span<int> statuses) noexcept override;
    Status query_pages(std::span<void* const> pages, std::span<int> statuses) noexcept override;
    Status open_counter(HardwareCounter counter, int& handle) noexcept override;
    Status read_counter(int handle, CounterReading& reading) noexcept override;
    void close_counter(int handle) noexcept override;
    MemoryFigures memory() noexcept override;
    std::vector<AddressRange> mappings() override;
    std::size_t read_own_memory(std::uintptr_t address, void* bytes,
                                std::size_t size) noexcept override;

  private:
    struct Fault {
        Status status;
        std::size_t count;
    };

    Status recorded(Record record);
    Status planned_fault(Call call);
    int move_page(const void* page, NodeId target);
    void forget_pages(const void* address, std::size_t bytes);
    void note_access(std::byte* begin, std::byte* end, Access access);
    Access access_now(const void* page) const noexcept;

    mutable std::mutex mutex_;  // guards all fields except those that are set once
    int nodes_;
    int cores_per_node_;
    int threads_per_core_;
    std::size_t reserve_bytes_max_ = SIZE_MAX;
    std::size_t mappings_max_ = 65'530;
    std::vector<int> allowed_;
    std::map<NodeId, std::uint64_t> free_bytes_;
    std::map<NodeId, std::uint64_t> total_bytes_;
    std::set<NodeId> memoryless_;
    std::map<std::pair<NodeId, NodeId>, int> distances_;  // set by set_distance()
    std::map<std::pair<NodeId, NodeId>, double> firmware_bandwidths_;
    std::vector<std::uint32_t> interleave_weights_;
    std::map<const void*, NodeId> page_nodes_;
    std::map<const void*, std::size_t> busy_;
    std::map<const void*, int> immovable_;
    std::map<void*, std::size_t> reserved_;
    // Reserved memory: each entry is the start of a range of equal access, which ends at the next
    // entry. Adjacent entries differ; before the first entry the access is `none`.
    std::map<const std::byte*, Access> access_;
    std::map<int, CounterReading> readings_;
    std::map<Call, Fault> faults_;
    std::vector<Record> records_;
    std::map<int, CpuUse> cpu_use_;
    bool turn_of_another_ = false;
    bool has_turn_ = false;
    bool kernel_balances_nodes_ = false;
    bool hides_memory_ = false;
    MemoryFigures memory_{std::uint64_t{8} << 30, 0, 0};
};

}  // namespace nw
