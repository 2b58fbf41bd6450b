// SPDX-License-Identifier: Apache-2.0
#include "numa/os/control_groups.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string_view>

namespace nw {
namespace {

std::uint64_t number_in(const std::string& file, std::uint64_t otherwise) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    return in >> value ? value : otherwise;
}

// Returns the bytes of a group and its subgroups that the kernel can reclaim: the pages on the
// lists of file pages and, in version 2, reclaimable slabs such as directory entries. Pages of a
// tmpfs are on other lists and do not count.
std::uint64_t reclaimable_bytes(const std::string& stat_file, bool unified) {
    // The file is read repeatedly during the run, and a C stream costs less than std::ifstream.
    std::FILE* const file = std::fopen(stat_file.c_str(), "re");
    if (file == nullptr) return 0;
    std::uint64_t sum = 0;
    std::array<char, 128> line{};
    while (std::fgets(line.data(), line.size(), file) != nullptr) {
        const std::string_view text(line.data());
        const bool counts = unified ? text.starts_with("inactive_file ") ||
                                          text.starts_with("active_file ") ||
                                          text.starts_with("slab_reclaimable ")
                                    : text.starts_with("total_inactive_file ") ||
                                          text.starts_with("total_active_file ");
        unsigned long long value = 0;
        if (counts && std::sscanf(line.data(), "%*s %llu", &value) == 1) sum += value;
    }
    std::fclose(file);
    return sum;
}

bool has_controller(const std::string& list, const std::string& controller) {
    return ("," + list + ",").find("," + controller + ",") != std::string::npos;
}

}  // namespace

// Calls visit(folder, unified) for the process's group and for all groups that contain this group.
// Inside a container, the path in the membership file may be a path of the host. The root of the
// mount is then the process's group.
template <class Visit>
void ControlGroups::for_each_folder(const char* controller, Visit&& visit) const {
    std::ifstream in(membership_);
    for (std::string line; std::getline(in, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool unified = controllers.empty();
        if (!unified && !has_controller(controllers, controller)) continue;
        const std::string root = unified ? mount_ : mount_ + "/" + controllers;
        for (std::string path = line.substr(second + 1); !path.empty() && path != "/";
             path.resize(path.rfind('/')))
            visit(root + path, unified);
        visit(root, unified);
    }
}

std::uint64_t ControlGroups::available_bytes() const {
    std::uint64_t available = UINT64_MAX;
    for_each_folder("memory", [&](const std::string& folder, bool unified) {
        const std::uint64_t limit =
            number_in(folder + (unified ? "/memory.max" : "/memory.limit_in_bytes"), UINT64_MAX);
        if (limit == UINT64_MAX) return;
        const std::uint64_t used =
            number_in(folder + (unified ? "/memory.current" : "/memory.usage_in_bytes"), 0);
        const std::uint64_t kept =
            used - std::min(used, reclaimable_bytes(folder + "/memory.stat", unified));
        available = std::min(available, limit > kept ? limit - kept : 0);
    });
    return available;
}

double ControlGroups::cpu_quota() const {
    double quota = std::numeric_limits<double>::infinity();
    for_each_folder("cpu", [&](const std::string& folder, bool unified) {
        double time = 0;  // "max", or -1 in version 1: no quota
        double period = 0;
        if (unified) {
            std::ifstream in(folder + "/cpu.max");
            if (!(in >> time >> period)) return;
        } else if (!(std::ifstream(folder + "/cpu.cfs_quota_us") >> time) ||
                   !(std::ifstream(folder + "/cpu.cfs_period_us") >> period)) {
            return;
        }
        if (time > 0 && period > 0) quota = std::min(quota, time / period);
    });
    return quota;
}

}  // namespace nw
