// SPDX-License-Identifier: Apache-2.0
// The port to the kernel: address space, pages, nodes, CPUs. All requests of this project to Linux
// about memory and placement use this interface. So tests can replace Linux by a fake that has any
// number of nodes and any fault (tests/support/fake_os.hpp). The implementation is linux_os.cpp.
//
// Failures are status codes, not exceptions. A machine without NUMA, a container that forbids
// move_pages and a full node are ordinary cases: they are counted and reported once, and the run
// continues.
//
// Thread: any; several threads may use it at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

namespace nw {

// 0, or an errno value.
using Status = int;

// A logical CPU that this process may use.
struct Cpu {
    int number = 0;  // the kernel's number
    int core = 0;    // number of the physical core, equal for all its CPUs
    NodeId node{0};
    friend bool operator==(const Cpu&, const Cpu&) = default;
};

// Times of a CPU so far, in ns. The resolution is 10 ms. In a virtual machine, the sum of both
// times may be less than the elapsed time.
struct CpuUse {
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
};

// Bytes of this process, and bytes that the machine (or its control group) still has.
struct MemoryFigures {
    std::uint64_t available = 0;      // can be allocated without swapping
    std::uint64_t resident = 0;       // of this process, now
    std::uint64_t resident_peak = 0;  // of this process, so far
};

struct AddressRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

// Events of a thread that the processor or the kernel can count.
enum class HardwareCounter : std::uint8_t {
    instructions,
    cycles,
    loads,
    stores,
    l1d_misses,
    last_level_misses,
    dtlb_misses,
    page_faults,
    cpu_ns,
};
inline constexpr std::size_t hardware_counter_count = 9;

// A processor has few counters. If more counters are requested, the kernel runs each counter for a
// share of the time.
struct CounterReading {
    std::uint64_t count = 0;  // events while the counter ran
    std::uint64_t wanted_ns = 0;
    std::uint64_t ran_ns = 0;
};

enum class Access : std::uint8_t { none, read, write };  // write: read and write

class Os {
  public:
    virtual ~Os() = default;

    // Reserves [address, address + bytes), without access. The range is left out of core dumps.
    // Never replaces a mapping: EEXIST if there is one. address == nullptr: any address. `result`
    // is written only on success.
    virtual Status reserve(void* address, std::size_t bytes, void*& result) noexcept = 0;
    virtual Status unreserve(void* address, std::size_t bytes) noexcept = 0;

    // Sets the allowed access to whole pages of a reserved range. Any other access to these pages
    // raises SIGSEGV. Pages are zero and take no memory until they are touched. They keep their
    // contents while no access is allowed. ENOMEM: there are too many mappings, or the kernel
    // cannot promise more memory.
    virtual Status set_access(void* address, std::size_t bytes, Access access) noexcept = 0;
    // The maximum number of mappings of a process. Neighboring ranges with equal access and equal
    // advice are one mapping.
    virtual std::size_t mappings_max() noexcept = 0;

    // Returns the pages to the kernel. They read as zero afterwards.
    virtual Status discard(void* address, std::size_t bytes) noexcept = 0;

    // Requests (or forbids) transparent huge pages in a range.
    virtual Status advise_huge(void* address, std::size_t bytes, bool on) noexcept = 0;

    // The CPUs in this process's cpuset, ordered by number; at least one.
    virtual std::vector<Cpu> allowed_cpus() = 0;
    virtual NodeId node_of_cpu(int cpu) noexcept = 0;
    // The numbers of the CPUs on which the calling thread may run now, ordered. Cost: a
    // microsecond.
    virtual std::vector<int> thread_cpus() = 0;

    // The nodes that have memory, ordered; at least one. Numbers may have gaps.
    virtual std::vector<NodeId> nodes() = 0;
    virtual std::size_t node_count() { return nodes().size(); }
    // Bytes that the node can provide without swapping: free pages, and pages of files that are not
    // in use.
    virtual std::uint64_t free_bytes(NodeId node) noexcept = 0;
    virtual std::uint64_t total_bytes(NodeId node) noexcept = 0;  // 0: no memory, or no such node
    // 10 from a node to itself, 20 to a node that is twice as far; 0: unknown.
    virtual int distance(NodeId from, NodeId to) noexcept = 0;
    // MB/s that the CPUs of a node read from the memory of a node, according to the firmware
    // (HMAT); 0: unknown.
    virtual double firmware_bandwidth(NodeId, NodeId) noexcept { return 0; }
    // Whether the kernel itself moves pages to the nodes where they are used. The kernel may then
    // undo moves of pagemigd.
    virtual bool kernel_balances_nodes() noexcept = 0;

    // By CPU of the machine. Empty if the kernel does not report it.
    virtual std::map<int, CpuUse> cpu_use() { return {}; }
    // Only one run of a machine moves its workers at a time, so that each run sees where the other
    // runs are. EBUSY: it is the turn of another run. After success, the turn of this process lasts
    // until end_turn(), or until the process ends.
    virtual Status take_turn() noexcept { return 0; }
    virtual void end_turn() noexcept {}

    // The following four functions concern the calling thread.
    virtual Status bind_thread(int cpu) noexcept = 0;
    // Pages that this thread touches first are allocated on the node on which the thread runs,
    // independently of the memory policy of the process.
    virtual Status prefer_local_memory() noexcept = 0;
    // Pages that this thread touches first are allocated on this node only. If the node has no free
    // page and the kernel cannot reclaim one, the kernel kills a process, usually this one.
    virtual Status require_memory_of(NodeId node) noexcept = 0;
    // Requests time slices of about a tenth of the kernel's default. If several threads use a core,
    // the shares of the threads do not change. But this thread is scheduled sooner when it wakes,
    // and loses less time when it yields. The function is for a thread for which other threads wait
    // many times per millisecond. It has no effect before Linux 6.12, or if the thread's policy is
    // not SCHED_OTHER.
    virtual void take_short_time_slices() noexcept = 0;

    // After this call, pages of [address, address + bytes) are allocated on these nodes in turn
    // when they are touched for the first time. The thread that touches a page has no influence. A
    // page's position in the sequence of nodes is the page's number modulo the number of nodes or,
    // if weighted, modulo the sum of interleave_weights(). One policy covers the whole range, so
    // there is no additional mapping.
    virtual Status interleave_new_pages(void* address, std::size_t bytes,
                                        std::span<const NodeId> nodes, bool weighted) noexcept = 0;
    // The kernel's weights of these nodes; empty if the kernel does not support weighted
    // interleaving (before Linux 6.9).
    virtual std::vector<std::uint32_t> interleave_weights(std::span<const NodeId> nodes) = 0;

    // Moves each page to `target`. statuses[i] becomes `target`, or a negative errno if page i is
    // not on `target`: -ENOENT (the page was never touched), -EBUSY (try again), -ENOMEM (the
    // target is full), or another one. If `pages` contains a part of a huge page, the whole huge
    // page is moved; but only the parts in `pages` get a status.
    //
    // A result other than 0 concerns the whole call: the call is not allowed (EPERM, ENOSYS), there
    // is no such node (ENODEV), or this process may not use the node (EACCES). The statuses of the
    // pages are then meaningless.
    //
    // Requires: statuses.size() == pages.size().
    virtual Status move_pages(std::span<void* const> pages, NodeId target,
                              std::span<int> statuses) noexcept = 0;
    // statuses[i] becomes the node that page i is on, or a negative errno as above.
    virtual Status query_pages(std::span<void* const> pages, std::span<int> statuses) noexcept = 0;

    // Begins to count events of the calling thread, in user mode only, until close_counter().
    // `handle` is the argument of the other two functions. ENOENT and similar: the machine does not
    // have the counter. EACCES, EPERM: this process may not use the counter.
    virtual Status open_counter(HardwareCounter counter, int& handle) noexcept = 0;
    virtual Status read_counter(int handle, CounterReading& reading) noexcept = 0;
    virtual void close_counter(int handle) noexcept = 0;

    virtual MemoryFigures memory() noexcept = 0;
    // Returns only MemoryFigures::resident. Cost: about a microsecond.
    virtual std::uint64_t resident_bytes() noexcept { return memory().resident; }
    // Returns to the kernel the memory that libc's malloc holds but does not use. Cost:
    // milliseconds.
    virtual void release_libc_memory() noexcept {}

    // All mappings of this process, ordered by address; empty if the kernel does not report them
    // (no /proc).
    virtual std::vector<AddressRange> mappings() = 0;
    // Copies `size` bytes at `address` of this process, independently of the access that their
    // pages allow. Other threads may write to these bytes at the same time. Returns the number of
    // bytes that were copied. It is less than `size` if a page cannot be read, and 0 if the first
    // page cannot be read.
    virtual std::size_t read_own_memory(std::uintptr_t address, void* bytes,
                                        std::size_t size) noexcept = 0;
};

// The kernel on which this program runs.
Os& linux_os();

// The size of the kernel's pages. All code assumes page_bytes; a kernel with another page size is
// refused.
std::size_t kernel_page_bytes() noexcept;

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

}  // namespace nw
