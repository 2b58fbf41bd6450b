// SPDX-License-Identifier: Apache-2.0
#include "numa/os/perf_event.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace nw {
namespace {

struct Kind {
    std::uint32_t type;
    std::uint64_t config;
};

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t operation,
                                    std::uint64_t result) noexcept {
    return cache | operation << 8 | result << 16;
}

// Indexed by HardwareCounter.
constexpr std::array<Kind, hardware_counter_count> kinds = {{
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ,
                                     PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    {PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_WRITE,
                                     PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    {PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ,
                                     PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ,
                                     PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
}};

}  // namespace

Status open_perf_event(HardwareCounter counter, int& handle) noexcept {
    const Kind& kind = kinds[static_cast<std::size_t>(counter)];
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = kind.type;
    what.config = kind.config;
    what.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    // Only privileged users may count in the kernel (kernel.perf_event_paranoid).
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    constexpr int this_thread = 0, any_cpu = -1, no_group = -1;
    const long result =
        ::syscall(SYS_perf_event_open, &what, this_thread, any_cpu, no_group, PERF_FLAG_FD_CLOEXEC);
    if (result < 0) return errno;
    handle = static_cast<int>(result);
    return 0;
}

Status read_perf_event(int handle, CounterReading& reading) noexcept {
    std::array<std::uint64_t, 3> values{};  // count, time enabled, time running
    if (::read(handle, values.data(), sizeof values) != sizeof values) return EIO;
    reading = {values[0], values[1], values[2]};
    return 0;
}

}  // namespace nw
