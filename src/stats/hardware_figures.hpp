// What --hardware-counters counts, as the statistics have it.
#pragma once

#include <string>
#include <vector>

#include "base/counters.hpp"
#include "numa/os/thread_counters.hpp"

namespace nw {

// clang-format off
// By HardwareCounter.
inline constexpr FigureInfo hardware_table[] = {
    {"instructions", "instructions", "hardware", "that workers executed in their event loops, as the processor counts with --hardware-counters, here and below; null: not counted, and a notice says why"},
    {"cycles", "cycles", "hardware", "of the processor in which they did that"},
    {"loads", "loads", "hardware", "reads of memory by them"},
    {"stores", "stores", "hardware", "writes to memory by them"},
    {"l1d_misses", "misses", "hardware", "loads that the first-level data cache did not have"},
    {"last_level_misses", "misses", "hardware", "accesses that went to memory, as the processor's last-level cache counts them"},
    {"dtlb_misses", "misses", "hardware", "loads whose page the data TLB did not have"},
    {"page_faults", "faults", "hardware", "of the kernel, for pages touched first or not there"},
    {"cpu_ns", "ns", "hardware", "CPU time of the workers' event loops, as the kernel's counters have it"},
};
// clang-format on
static_assert(std::size(hardware_table) == hardware_counter_count);

// A line for each reason why some are not counted.
std::vector<std::string> hardware_notices(const HardwareCounts& counts);

}  // namespace nw
