// The port to the kernel: address space, pages, nodes, CPUs. Everything that this project asks of
// Linux about memory and placement goes through here, so that a fake with any number of nodes and
// any fault can stand in for it (tests/support/fake_os.hpp). The real one is in linux_os.cpp.
//
// Answers are status codes, never exceptions: a machine without NUMA, a container that forbids
// move_pages and a full node are ordinary, to be counted and said once, not to end the run.
// Thread: any, several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

namespace nw {

// 0, or an errno value.
using Status = int;

// A logical CPU that this process may use.
struct Cpu {
    int number = 0;  // as the kernel numbers it
    int core = 0;    // physical core; CPUs of one core share it
    NodeId node{0};
    friend bool operator==(const Cpu&, const Cpu&) = default;
};

// Bytes, of this process and of what the machine (or its control group) still has.
struct MemoryFigures {
    std::uint64_t available = 0;      // can be taken without swapping
    std::uint64_t resident = 0;       // of this process, now
    std::uint64_t resident_peak = 0;  // of this process, so far
};

struct AddressRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

// What the processor and the kernel can count of a thread.
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

// A processor has few counters. If more are wanted the kernel gives each a share of the time.
struct CounterReading {
    std::uint64_t count = 0;  // while it ran
    std::uint64_t wanted_ns = 0;
    std::uint64_t ran_ns = 0;
};

enum class Access : std::uint8_t { none, read, write };  // write: and read

class Os {
  public:
    virtual ~Os() = default;

    // Reserves [address, address + bytes): addresses that nobody may touch yet, left out of core
    // dumps. Never replaces a mapping: EEXIST if one is there. address == nullptr: anywhere.
    // `result` is written on success only.
    virtual Status reserve(void* address, std::size_t bytes, void*& result) noexcept = 0;
    virtual Status unreserve(void* address, std::size_t bytes) noexcept = 0;

    // What may be done with whole pages of what was reserved; all else gets SIGSEGV. They are zero,
    // without memory behind them until touched, and keep what they hold while they are closed.
    // ENOMEM: too many mappings, or no more memory may be promised.
    virtual Status set_access(void* address, std::size_t bytes, Access access) noexcept = 0;
    // How many mappings a process may have. Neighbours of equal access and advice are one.
    virtual std::size_t mappings_max() noexcept = 0;

    // Gives the pages back to the kernel; they read as zero afterwards.
    virtual Status discard(void* address, std::size_t bytes) noexcept = 0;

    // Asks for (or forbids) transparent huge pages in a range.
    virtual Status advise_huge(void* address, std::size_t bytes, bool on) noexcept = 0;

    // The CPUs in this process's cpuset, ordered by number; at least one.
    virtual std::vector<Cpu> allowed_cpus() = 0;
    virtual NodeId node_of_cpu(int cpu) noexcept = 0;
    // The numbers of those that the calling thread may run on now, ordered. Cost: a microsecond.
    virtual std::vector<int> thread_cpus() = 0;

    // The nodes that have memory, ordered; at least one. Numbers may have gaps.
    virtual std::vector<NodeId> nodes() = 0;
    virtual std::size_t node_count() { return nodes().size(); }
    // What the node can still give without swapping: free pages, and files that nobody uses.
    virtual std::uint64_t free_bytes(NodeId node) noexcept = 0;
    virtual std::uint64_t total_bytes(NodeId node) noexcept = 0;  // 0: no memory, or no such node
    // 10 from a node to itself, 20 to one twice as far; 0: unknown.
    virtual int distance(NodeId from, NodeId to) noexcept = 0;
    // MB/s that the CPUs of a node read from the memory of a node, as firmware says (HMAT); 0: it does not.
    virtual double firmware_bandwidth(NodeId, NodeId) noexcept { return 0; }
    // Whether the kernel moves pages by itself, to where it sees them used, and so against us.
    virtual bool kernel_balances_nodes() noexcept = 0;

    // These concern the calling thread.
    virtual Status bind_thread(int cpu) noexcept = 0;
    // Pages that this thread touches first come from the node it runs on, whatever policy the
    // process was started with.
    virtual Status prefer_local_memory() noexcept = 0;
    // Slices of a tenth of the kernel's, which change nothing in its share of a core that others want: it gets the core
    // sooner when it wakes, and loses less of it when it yields. For a thread that others wait for many times a millisecond.
    // Without effect before Linux 6.12, and where the thread has another policy than SCHED_OTHER.
    virtual void take_short_time_slices() noexcept = 0;

    // Pages of [address, address + bytes) that are touched first from now on come from these nodes in
    // turn, whoever touches them: that of a page is its number modulo the number of nodes or, weighted,
    // modulo the sum of interleave_weights(). One policy for all of it: no mapping more.
    virtual Status interleave_new_pages(void* address, std::size_t bytes,
                                        std::span<const NodeId> nodes, bool weighted) noexcept = 0;
    // The kernel's weights of these nodes; none where it has no weighted interleaving (before Linux 6.9).
    virtual std::vector<std::uint32_t> interleave_weights(std::span<const NodeId> nodes) = 0;

    // Moves each page to `target`. statuses[i] becomes `target`, or a negative errno that says why
    // page i is not there: -ENOENT never touched, -EBUSY try again, -ENOMEM target full, and
    // others. Of a huge page any part moves all, and all must be named to be reported.
    // Any status but 0 is about the call as a whole: it is not allowed (EPERM, ENOSYS), or there is
    // no such node (ENODEV), or not for us (EACCES); the statuses of the pages then mean nothing.
    // Requires: statuses.size() == pages.size().
    virtual Status move_pages(std::span<void* const> pages, NodeId target,
                              std::span<int> statuses) noexcept = 0;
    // statuses[i] becomes the node that page i is on, or a negative errno as above.
    virtual Status query_pages(std::span<void* const> pages, std::span<int> statuses) noexcept = 0;

    // Counts for the calling thread from now on until it is closed, in user mode only; `handle` is for
    // the other two. ENOENT and the like: the machine does not have it; EACCES, EPERM: it is not for us.
    virtual Status open_counter(HardwareCounter counter, int& handle) noexcept = 0;
    virtual Status read_counter(int handle, CounterReading& reading) noexcept = 0;
    virtual void close_counter(int handle) noexcept = 0;

    virtual MemoryFigures memory() noexcept = 0;
    // MemoryFigures::resident alone. Cost: about a microsecond.
    virtual std::uint64_t resident_bytes() noexcept { return memory().resident; }
    // Gives the kernel what libc's malloc holds and does not use. Cost: milliseconds.
    virtual void release_libc_memory() noexcept {}

    // All that is mapped in this process, by address; nothing where the kernel does not say (no /proc).
    virtual std::vector<AddressRange> mappings() = 0;
    // Copies what is at `address` in this process, whatever access its pages have and whoever writes
    // there. Returns how many bytes were read: fewer where a page cannot be, 0 if that is the first.
    virtual std::size_t read_own_memory(std::uintptr_t address, void* bytes,
                                        std::size_t size) noexcept = 0;
};

// The kernel this program runs on.
Os& linux_os();

// The size of the kernel's pages. All code takes it to be page_bytes; a kernel that has pages of another size is refused.
std::size_t kernel_page_bytes() noexcept;

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

}  // namespace nw
