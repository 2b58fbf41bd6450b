// The port to the kernel, on Linux: mmap and madvise, hwloc for cores inside the cpuset, libnuma for
// nodes, /proc and the control group for figures.
#include <hwloc.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "numa/os.hpp"

namespace nw {
namespace {

Status status_of(long result) noexcept { return result < 0 ? errno : 0; }

// libnuma's questions are legal only if this says yes.
bool has_numa() noexcept {
    static const bool yes = numa_available() >= 0;
    return yes;
}

// A value from a "Name:   123 kB" file, in bytes; 0 if it is not there. No allocation: it may be
// asked while memory is short.
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

std::uint64_t number_in(const std::string& file, std::uint64_t otherwise) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    return in >> value ? value : otherwise;
}

// The control groups that this process is in, as folders: the tightest of them limits us.
std::vector<std::string> control_group_folders() {
    std::vector<std::string> folders;
    std::ifstream in("/proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const auto second = line.find(':', line.find(':') + 1);
        if (second == std::string::npos) continue;
        std::string path = line.substr(second + 1);
        const bool unified = line.starts_with("0::");
        if (!unified && line.find(":memory:") == std::string::npos) continue;
        const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
        // Inside a container the path may be the host's: the mount's root is then our group.
        while (!path.empty() && path != "/") {
            folders.push_back(root + path);
            path.resize(path.rfind('/'));
        }
        folders.push_back(root);
    }
    return folders;
}

std::uint64_t control_group_available() {
    std::uint64_t available = UINT64_MAX;
    for (const std::string& folder : control_group_folders()) {
        const bool unified = !folder.starts_with("/sys/fs/cgroup/memory");
        const std::uint64_t limit =
            number_in(folder + (unified ? "/memory.max" : "/memory.limit_in_bytes"), UINT64_MAX);
        const std::uint64_t used =
            number_in(folder + (unified ? "/memory.current" : "/memory.usage_in_bytes"), 0);
        if (limit != UINT64_MAX) available = std::min(available, limit > used ? limit - used : 0);
    }
    return available;
}

struct DestroyTopology {
    void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};

// The machine as hwloc sees it, or null.
std::unique_ptr<hwloc_topology, DestroyTopology> load_topology() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return nullptr;
    std::unique_ptr<hwloc_topology, DestroyTopology> topology(raw);
    if (hwloc_topology_load(raw) != 0) return nullptr;
    return topology;
}

class LinuxOs final : public Os {
  public:
    Status reserve(void* address, std::size_t bytes, void*& result) noexcept override {
        const int fixed = address == nullptr ? 0 : MAP_FIXED_NOREPLACE;
        void* const got = ::mmap(address, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
        if (got == MAP_FAILED) return errno;
        if (address != nullptr && got != address) {
            // A kernel before 4.17 takes the address as a hint.
            ::munmap(got, bytes);
            return EEXIST;
        }
        // The kernel writes a core dump page by page, touched or not: 32 TiB would take hours.
        ::madvise(got, bytes, MADV_DONTDUMP);
        result = got;
        return 0;
    }

    Status unreserve(void* address, std::size_t bytes) noexcept override {
        return status_of(::munmap(address, bytes));
    }

    Status discard(void* address, std::size_t bytes) noexcept override {
        return status_of(::madvise(address, bytes, MADV_DONTNEED));
    }

    Status advise_huge(void* address, std::size_t bytes, bool on) noexcept override {
        return status_of(::madvise(address, bytes, on ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
    }

    std::vector<Cpu> allowed_cpus() override {
        std::vector<Cpu> cpus;
        const auto topology = load_topology();
        for (const int number : allowed_cpu_numbers()) {
            int core = number;
            if (topology) {
                hwloc_obj_t unit =
                    hwloc_get_pu_obj_by_os_index(topology.get(), static_cast<unsigned>(number));
                hwloc_obj_t parent = unit == nullptr ? nullptr
                                                     : hwloc_get_ancestor_obj_by_type(
                                                           topology.get(), HWLOC_OBJ_CORE, unit);
                if (parent != nullptr) core = static_cast<int>(parent->logical_index);
            }
            cpus.push_back({number, core, node_of_cpu(number)});
        }
        return cpus;
    }

    NodeId node_of_cpu(int cpu) noexcept override {
        const int node = has_numa() ? numa_node_of_cpu(cpu) : 0;
        return NodeId{std::max(node, 0)};
    }

    std::vector<NodeId> nodes() override {
        std::vector<NodeId> found;
        if (has_numa()) {
            for (int node = 0; node <= numa_max_node(); ++node)
                if (numa_bitmask_isbitset(numa_all_nodes_ptr, static_cast<unsigned>(node)) != 0)
                    found.push_back(NodeId{node});
        }
        if (found.empty()) found.push_back(NodeId{0});
        return found;
    }

    std::uint64_t free_bytes(NodeId node) noexcept override {
        long long free = -1;
        if (has_numa()) numa_node_size64(index(node), &free);
        return free >= 0 ? static_cast<std::uint64_t>(free)
                         : kilobyte_field("/proc/meminfo", "MemFree");
    }

    Status bind_thread(int cpu) noexcept override {
        cpu_set_t set;
        CPU_ZERO(&set);
        if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
        CPU_SET(static_cast<unsigned>(cpu), &set);
        return status_of(::sched_setaffinity(0, sizeof set, &set));
    }

    Status prefer_local_memory() noexcept override {
        // Preferred with no node named means local, on kernels before MPOL_LOCAL, too.
        return status_of(::set_mempolicy(MPOL_PREFERRED, nullptr, 0));
    }

    Status move_pages(std::span<void* const> pages, NodeId target,
                      std::span<int> statuses) noexcept override {
        if (pages.size() != statuses.size()) return EINVAL;
        std::array<int, 1024> targets;
        targets.fill(index(target));
        for (std::size_t done = 0; done < pages.size();) {
            const std::size_t some = std::min(targets.size(), pages.size() - done);
            const long result = ::move_pages(0, some, const_cast<void**>(pages.data() + done),
                                             targets.data(), statuses.data() + done, MPOL_MF_MOVE);
            if (result < 0) return errno;
            done += some;
        }
        return 0;
    }

    Status query_pages(std::span<void* const> pages, std::span<int> statuses) noexcept override {
        if (pages.size() != statuses.size()) return EINVAL;
        return status_of(::move_pages(0, pages.size(), const_cast<void**>(pages.data()), nullptr,
                                      statuses.data(), 0));
    }

    MemoryFigures memory() noexcept override {
        MemoryFigures figures;
        figures.available = kilobyte_field("/proc/meminfo", "MemAvailable");
        figures.resident = kilobyte_field("/proc/self/status", "VmRSS");
        figures.resident_peak = kilobyte_field("/proc/self/status", "VmHWM");
        try {
            figures.available = std::min(figures.available, control_group_available());
        } catch (const std::exception&) {
            // Too little memory to read the control group's files: MemAvailable has to do.
        }
        return figures;
    }

  private:
    static std::vector<int> allowed_cpu_numbers() {
        std::vector<int> numbers;
        // A machine may have more CPUs than cpu_set_t has bits.
        for (unsigned cpus = CPU_SETSIZE; cpus <= (1U << 20); cpus *= 4) {
            const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
            const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
                CPU_ALLOC(cpus), [](cpu_set_t* s) { CPU_FREE(s); });
            if (::sched_getaffinity(0, bytes, set.get()) != 0) {
                if (errno == EINVAL) continue;
                break;
            }
            for (unsigned cpu = 0; cpu < cpus; ++cpu)
                if (CPU_ISSET_S(cpu, bytes, set.get())) numbers.push_back(static_cast<int>(cpu));
            break;
        }
        if (numbers.empty()) numbers.push_back(0);
        return numbers;
    }
};

}  // namespace

Os& linux_os() {
    static LinuxOs os;
    return os;
}

}  // namespace nw
