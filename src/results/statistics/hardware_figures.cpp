// SPDX-License-Identifier: Apache-2.0
#include "results/statistics/hardware_figures.hpp"

#include <cerrno>
#include <cstring>
#include <map>

#include <fmt/format.h>

namespace nw {
namespace {

std::string reason_of(Status status) {
    switch (status) {
        case EACCES:
        case EPERM:
            return "the kernel does not permit it; allowed: kernel.perf_event_paranoid of 2 or "
                   "less, and no container that forbids it";
        case ENOENT:
        case ENODEV:
        case EOPNOTSUPP:
            return "this machine does not have these counters";
        case EBUSY:
            return "other programs used the processor's counters all the time";
        default:
            return std::strerror(status);
    }
}

}  // namespace

std::vector<std::string> hardware_notices(const HardwareCounts& counts) {
    std::map<std::string, std::string> names;  // key: the reason
    for (std::size_t i = 0; i < hardware_counter_count; ++i) {
        if (counts.refused[i] == 0) continue;
        std::string& list = names[reason_of(counts.refused[i])];
        if (!list.empty()) list += ", ";
        list += hardware_table[i].name;
    }
    std::vector<std::string> notices;
    for (const auto& [reason, list] : names)
        notices.push_back(fmt::format("--hardware-counters: not counted: {}: {}", list, reason));
    return notices;
}

}  // namespace nw
