// SPDX-License-Identifier: Apache-2.0
// The figures of --hardware-counters in the statistics.
#pragma once

#include <string>
#include <vector>

#include "numa/os/thread_counters.hpp"
#include "util/counters.hpp"

namespace nw {

// clang-format off
// Indexed by HardwareCounter.
inline constexpr FigureInfo hardware_table[] = {
    {"instructions", "instructions", "hardware", "instructions that the workers executed in their event loops, counted by the processor with --hardware-counters, as are the figures below; null: not counted, and a notice gives the reason"},
    {"cycles", "cycles", "hardware", "processor cycles of the workers' event loops"},
    {"loads", "loads", "hardware", "memory reads in the event loops"},
    {"stores", "stores", "hardware", "memory writes in the event loops"},
    {"l1d_misses", "misses", "hardware", "loads that missed the first-level data cache"},
    {"last_level_misses", "misses", "hardware", "accesses that went to memory, as counted by the processor's last-level cache"},
    {"dtlb_misses", "misses", "hardware", "loads that missed the data TLB"},
    {"page_faults", "faults", "hardware", "page faults, for pages that were touched for the first time or were not present"},
    {"cpu_ns", "ns", "hardware", "CPU time of the workers' event loops, as counted by the kernel"},
};
// clang-format on
static_assert(std::size(hardware_table) == hardware_counter_count);

// Returns one line for each reason why some figures are not counted.
std::vector<std::string> hardware_notices(const HardwareCounts& counts);

}  // namespace nw
