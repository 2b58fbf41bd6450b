// SPDX-License-Identifier: Apache-2.0
// The port to the kernel, for Linux. It uses mmap and madvise for memory, libnuma and move_pages
// for pages and nodes, hwloc (machine.cpp) for cores, nodes and distances inside the cpuset, /proc
// and the control group for memory figures, and perf_event_open (perf_event.cpp) for counters.
#include <fcntl.h>
#include <malloc.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "numa/os/control_groups.hpp"
#include "numa/os/machine.hpp"
#include "numa/os/os.hpp"
#include "numa/os/perf_event.hpp"

namespace nw {
namespace {

// The kernel's struct sched_attr. Its header and the C library's <sched.h> cannot both be included.
struct SchedulingAttributes {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;  // ns; without a deadline, runtime is the time slice
};

Status status_of(long result) noexcept { return result < 0 ? errno : 0; }

// Functions of libnuma may be called only if this returns true.
bool has_numa() noexcept {
    static const bool yes = numa_available() >= 0;
    return yes;
}

constexpr std::size_t nodes_max = 1024;  // in a node mask of the kernel
constexpr std::size_t bits_per_word = 8 * sizeof(unsigned long);
using NodeMask = std::array<unsigned long, nodes_max / bits_per_word>;
constexpr int weighted_interleave = 6;  // MPOL_WEIGHTED_INTERLEAVE; not in older headers

// Returns false if the number of the node is too large.
bool add_to(NodeMask& mask, NodeId node) noexcept {
    const auto number = static_cast<std::size_t>(index(node));
    if (number >= nodes_max) return false;
    mask[number / bits_per_word] |= 1UL << number % bits_per_word;
    return true;
}

// Returns a value, in bytes, from a file with lines "Name:   123 kB"; 0 if the value is missing.
// The function allocates no memory except in fopen(), because it may be called when memory is
// short.
std::uint64_t kilobyte_field(const char* file, const char* name) noexcept {
    std::FILE* in = std::fopen(file, "re");
    if (in == nullptr) return 0;
    std::array<char, 256> line{};
    const std::size_t name_length = std::strlen(name);
    std::uint64_t bytes = 0;
    while (std::fgets(line.data(), line.size(), in) != nullptr) {
        if (std::strncmp(line.data(), name, name_length) != 0) continue;
        unsigned long long kilobytes = 0;
        if (std::sscanf(line.data() + name_length, ": %llu", &kilobytes) == 1)
            bytes = kilobytes * 1024;
        break;
    }
    std::fclose(in);
    return bytes;
}

// The memory of the machine that a process can still allocate. Some containers have no
// /proc/meminfo. In such a container, sysinfo(2) provides the value. This value is too small,
// because it does not include the page cache.
std::uint64_t available_bytes() noexcept {
    const std::uint64_t available = kilobyte_field("/proc/meminfo", "MemAvailable");
    if (available != 0) return available;
    struct ::sysinfo info {};
    if (::sysinfo(&info) != 0) return 0;
    return (std::uint64_t{info.freeram} + info.bufferram) * info.mem_unit;
}

std::uint64_t number_in(const std::string& file, std::uint64_t otherwise) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    return in >> value ? value : otherwise;
}

// Memory and distances do not change during a run. The CPUs that this process may use can change.
const Machine& machine() {
    static const Machine found = read_machine();
    return found;
}

// A value from /sys/devices/system/node/node<N>/meminfo, in bytes; 0 if it is missing.
std::uint64_t node_field(NodeId node, const char* name) noexcept {
    std::array<char, 64> file{}, field{};
    std::snprintf(file.data(), file.size(), "/sys/devices/system/node/node%d/meminfo", index(node));
    std::snprintf(field.data(), field.size(), "Node %d %s", index(node), name);
    return kilobyte_field(file.data(), field.data());
}

// --- move_pages(2), whose statuses are reliable for only some of the pages ---

// During a call, the kernel disables its per-core lists of recently used pages on all cores, so
// there should be few calls. The kernel also makes many pages of a call inaccessible at the same
// time, so a call should be short.
constexpr std::size_t pages_per_call = 4096;

// A value that the kernel never writes into a status.
constexpr int unwritten = INT_MIN;

// Returns the number of pages that the kernel has tried to move in a call that failed in part. The
// kernel collects pages until it finds a page that need not or cannot be moved, and writes the
// status of this page. Then the kernel moves the collected pages. If some of these pages cannot be
// moved, the call ends at this point.
std::size_t tried_pages(std::span<const int> statuses) noexcept {
    const auto first_unwritten = std::find(statuses.begin(), statuses.end(), unwritten);
    const auto ended_at = std::find_if(first_unwritten, statuses.end(),
                                       [](int status) { return status != unwritten; });
    return ended_at == statuses.end() ? statuses.size()
                                      : static_cast<std::size_t>(ended_at - statuses.begin()) + 1;
}

// Queries the pages whose status is unwritten or busy. Some of these pages were moved. For example,
// if the first page of a huge page is in the call, the second page is always reported as busy. The
// status of a page that is on `target` becomes `target`. Otherwise, an unwritten status becomes the
// error of the query, or `unmoved` if the page is on another node.
void settle(std::span<void* const> pages, NodeId target, int unmoved,
            std::span<int> statuses) noexcept {
    std::array<void*, 512> queried;
    std::array<std::size_t, queried.size()> place;
    std::array<int, queried.size()> results;
    for (std::size_t i = 0, count = 0; i < pages.size(); ++i) {
        if (statuses[i] == unwritten || statuses[i] == -EBUSY) {
            queried[count] = pages[i];
            place[count++] = i;
        }
        if (count < queried.size() && (i + 1 < pages.size() || count == 0)) continue;
        results.fill(unwritten);
        ::move_pages(0, count, queried.data(), nullptr, results.data(), 0);
        for (std::size_t k = 0; k < count; ++k) {
            int& status = statuses[place[k]];
            if (results[k] == index(target))
                status = results[k];
            else if (status == unwritten)
                status = results[k] < 0 && results[k] != unwritten ? results[k] : unmoved;
        }
        count = 0;
    }
}

// Returns the address space that `ulimit -v` still allows this process to reserve.
std::uint64_t address_space_left() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    const std::uint64_t used = kilobyte_field("/proc/self/status", "VmSize");
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

class LinuxOs final : public Os {
  public:
    Status reserve(void* address, std::size_t bytes, void*& result) noexcept override {
        const int fixed = address == nullptr ? 0 : MAP_FIXED_NOREPLACE;
        void* const got = ::mmap(address, bytes, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
        if (got == MAP_FAILED) return errno;
        if (address != nullptr && got != address) {
            // A kernel before 4.17 uses the address only as a hint.
            ::munmap(got, bytes);
            return EEXIST;
        }
        // A core dump would contain this range, including pages that were never touched. To write
        // 32 TiB page by page would take hours.
        ::madvise(got, bytes, MADV_DONTDUMP);
        result = got;
        return 0;
    }

    Status unreserve(void* address, std::size_t bytes) noexcept override {
        return status_of(::munmap(address, bytes));
    }

    Status set_access(void* address, std::size_t bytes, Access access) noexcept override {
        constexpr int protections[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
        return status_of(::mprotect(address, bytes, protections[static_cast<int>(access)]));
    }

    std::size_t mappings_max() noexcept override {
        constexpr std::size_t usual = 65'530;
        std::FILE* in = std::fopen("/proc/sys/vm/max_map_count", "re");
        if (in == nullptr) return usual;
        unsigned long long count = 0;
        const bool read = std::fscanf(in, "%llu", &count) == 1;
        std::fclose(in);
        return read ? count : usual;
    }

    Status discard(void* address, std::size_t bytes) noexcept override {
        return status_of(::madvise(address, bytes, MADV_DONTNEED));
    }

    Status advise_huge(void* address, std::size_t bytes, bool on) noexcept override {
        return status_of(::madvise(address, bytes, on ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
    }

    // hwloc needs tens of milliseconds to read the machine. The machine is read again only if the
    // process may use CPUs that the first result does not contain.
    std::vector<Cpu> allowed_cpus() override {
        const std::vector<int> numbers = bound_cpu_numbers();
        std::vector<Cpu> cpus;
        for (const Cpu& cpu : machine().cpus)
            if (std::binary_search(numbers.begin(), numbers.end(), cpu.number)) cpus.push_back(cpu);
        const bool is_known = machine().is_this && !cpus.empty() && cpus.size() == numbers.size();
        return is_known ? cpus : read_machine().cpus;
    }

    std::vector<int> thread_cpus() override { return bound_cpu_numbers(); }

    NodeId node_of_cpu(int cpu) noexcept override {
        const int node = has_numa() ? numa_node_of_cpu(cpu) : 0;
        return NodeId{std::max(node, 0)};
    }

    std::vector<NodeId> nodes() override {
        std::vector<NodeId> found;
        for (const Machine::Node& node : machine().nodes) found.push_back(node.id);
        return found;
    }

    std::uint64_t total_bytes(NodeId node) noexcept override {
        for (const Machine::Node& known : machine().nodes)
            if (known.id == node) return known.total_bytes;
        return 0;
    }

    int distance(NodeId from, NodeId to) noexcept override { return machine().distance(from, to); }

    double firmware_bandwidth(NodeId cpu, NodeId memory) noexcept override {
        return machine().bandwidth(cpu, memory);
    }

    std::uint64_t free_bytes(NodeId node) noexcept override {
        const std::uint64_t free = node_field(node, "MemFree") + node_field(node, "Inactive(file)");
        return free != 0 ? free : available_bytes();
    }

    bool kernel_balances_nodes() noexcept override {
        std::FILE* in = std::fopen("/proc/sys/kernel/numa_balancing", "re");
        if (in == nullptr) return false;
        int mode = 0;
        const bool read = std::fscanf(in, "%d", &mode) == 1;
        std::fclose(in);
        return read && mode != 0;
    }

    std::map<int, CpuUse> cpu_use() override {
        // Lines "cpu3 user nice system idle iowait …", in ticks. The first line is the sum of all
        // CPUs.
        static const std::uint64_t tick_ns =
            1'000'000'000 / static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
        std::map<int, CpuUse> found;
        std::ifstream file("/proc/stat");
        for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
            std::uint64_t user = 0, nice = 0, system = 0, idle = 0, waits = 0;
            int cpu = 0;
            if (std::istringstream(line.substr(3)) >> cpu >> user >> nice >> system >> idle >>
                    waits &&
                line[3] != ' ')
                found[cpu] = {(user + nice + system) * tick_ns, (idle + waits) * tick_ns};
        }
        return found;
    }

    // The kernel releases an abstract address when the process ends. Programs in different network
    // namespaces, for example in containers, do not share addresses.
    Status take_turn() noexcept override {
        if (turn_ >= 0) return 0;
        constexpr std::string_view name = "numawarp moves workers";
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy(name.begin(), name.end(), address.sun_path + 1);
        const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (socket < 0) return errno;
        const auto bytes =
            static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
            const int error = errno;
            ::close(socket);
            return error == EADDRINUSE ? EBUSY : error;
        }
        turn_ = socket;
        return 0;
    }

    void end_turn() noexcept override {
        if (turn_ >= 0) ::close(turn_);
        turn_ = -1;
    }

    Status bind_thread(int cpu) noexcept override {
        cpu_set_t set;
        CPU_ZERO(&set);
        if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
        CPU_SET(static_cast<unsigned>(cpu), &set);
        return status_of(::sched_setaffinity(0, sizeof set, &set));
    }

    Status prefer_local_memory() noexcept override {
        // MPOL_PREFERRED without a node means local, also on kernels that do not have MPOL_LOCAL.
        return status_of(::set_mempolicy(MPOL_PREFERRED, nullptr, 0));
    }

    Status require_memory_of(NodeId node) noexcept override {
        NodeMask mask{};
        if (!add_to(mask, node)) return EINVAL;
        return status_of(::set_mempolicy(MPOL_BIND, mask.data(), nodes_max + 1));
    }

    void take_short_time_slices() noexcept override {
        // The kernel's time slices are 2.8 ms on machines with eight or more CPUs. 0.1 ms was too
        // short for workers that share cores with each other (decision 0030).
        constexpr std::uint64_t slice_ns = 300'000;
        SchedulingAttributes attributes{};
        if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
        if (attributes.policy != SCHED_OTHER || attributes.runtime == 0) return;
        attributes.runtime = std::min(attributes.runtime, slice_ns);
        syscall(SYS_sched_setattr, 0, &attributes, 0);
    }

    Status interleave_new_pages(void* address, std::size_t bytes, std::span<const NodeId> nodes,
                                bool weighted) noexcept override {
        NodeMask mask{};
        for (const NodeId node : nodes)
            if (!add_to(mask, node)) return EINVAL;
        return status_of(::mbind(address, bytes, weighted ? weighted_interleave : MPOL_INTERLEAVE,
                                 mask.data(), nodes_max + 1, 0));
    }

    std::vector<std::uint32_t> interleave_weights(std::span<const NodeId> nodes) override {
        std::vector<std::uint32_t> weights;
        for (const NodeId node : nodes) {
            const std::uint64_t weight = number_in(
                "/sys/kernel/mm/mempolicy/weighted_interleave/node" + std::to_string(index(node)),
                0);
            if (weight == 0) return {};
            weights.push_back(static_cast<std::uint32_t>(weight));
        }
        return weights;
    }

    Status move_pages(std::span<void* const> pages, NodeId target,
                      std::span<int> statuses) noexcept override {
        if (pages.size() != statuses.size()) return EINVAL;
        std::array<int, pages_per_call> targets;
        targets.fill(index(target));
        std::fill(statuses.begin(), statuses.end(), unwritten);
        for (std::size_t done = 0; done < pages.size();) {
            std::size_t some = std::min(targets.size(), pages.size() - done);
            const long result = ::move_pages(0, some, const_cast<void**>(pages.data() + done),
                                             targets.data(), statuses.data() + done, MPOL_MF_MOVE);
            // If a node is full, the call fails. Since Linux 4.17, a positive result is the number
            // of pages that were not moved. Neither result identifies the pages.
            const bool full = result < 0 && errno == ENOMEM;
            if (result < 0 && !full) return errno;
            if (result > 0) some = tried_pages(statuses.subspan(done, some));
            settle(pages.subspan(done, some), target, full ? -ENOMEM : -EBUSY,
                   statuses.subspan(done, some));
            done += some;
        }
        return 0;
    }

    Status query_pages(std::span<void* const> pages, std::span<int> statuses) noexcept override {
        if (pages.size() != statuses.size()) return EINVAL;
        return status_of(::move_pages(0, pages.size(), const_cast<void**>(pages.data()), nullptr,
                                      statuses.data(), 0));
    }

    Status open_counter(HardwareCounter counter, int& handle) noexcept override {
        return open_perf_event(counter, handle);
    }

    Status read_counter(int handle, CounterReading& reading) noexcept override {
        return read_perf_event(handle, reading);
    }

    void close_counter(int handle) noexcept override { ::close(handle); }

    MemoryFigures memory() noexcept override {
        MemoryFigures figures;
        figures.available = available_bytes();
        figures.resident = kilobyte_field("/proc/self/status", "VmRSS");
        figures.resident_peak = kilobyte_field("/proc/self/status", "VmHWM");
        try {
            figures.available = std::min(figures.available, ControlGroups().available_bytes());
        } catch (const std::exception&) {
            // There is too little memory to read the control group's files. Only MemAvailable is
            // used.
        }
        figures.available = std::min(figures.available, address_space_left());
        return figures;
    }

    std::uint64_t resident_bytes() noexcept override {
        static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        std::array<char, 128> text{};
        if (file < 0 || ::pread(file, text.data(), text.size() - 1, 0) <= 0) return 0;
        unsigned long long pages = 0;  // the file contains "total resident shared …", in pages
        std::sscanf(text.data(), "%*u %llu", &pages);
        return pages * page_bytes;
    }

    void release_libc_memory() noexcept override { ::malloc_trim(0); }

    std::vector<AddressRange> mappings() override {
        std::vector<AddressRange> ranges;
        std::ifstream file("/proc/self/maps");
        AddressRange range;
        char dash = 0;
        std::string rest;
        while (file >> std::hex >> range.begin >> dash >> range.end && std::getline(file, rest))
            ranges.push_back(range);
        return ranges;
    }

    std::size_t read_own_memory(std::uintptr_t address, void* bytes,
                                std::size_t size) noexcept override {
        static const int file = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        const ssize_t got = ::pread(file, bytes, size, static_cast<off_t>(address));
        return got < 0 ? 0 : static_cast<std::size_t>(got);
    }

  private:
    int turn_ = -1;  // a socket; < 0: it is not the turn of this process
};

}  // namespace

Os& linux_os() {
    static LinuxOs os;
    return os;
}

std::size_t kernel_page_bytes() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace nw
