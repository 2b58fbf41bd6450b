// SPDX-License-Identifier: Apache-2.0
// The modeled caches and TLBs of all CPUs of a guest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "jobs/research/qemu/caches.hpp"

namespace nw::qemu {

inline constexpr std::size_t cache_levels = 3;

struct CacheShapes {
    Shape levels[cache_levels];
    unsigned shares[cache_levels] = {};  // CPUs of a node that share a cache; 0: all
    TlbShape tlb[2];

    // Sets what the argument `name` of a plug-in describes. Returns false if the name or the number
    // of values is wrong.
    //
    //   l1, l2, l3=LINE_SHIFT:SETS:WAYS:SHARE
    //   tlb1, tlb2=SETS:WAYS:SETS:WAYS:UNIFIED    for small and huge pages
    bool set(std::string_view name, const std::vector<std::uint64_t>& values) {
        const auto shape = [&values](std::size_t at) {
            return Shape{.sets = values[at], .ways = static_cast<unsigned>(values[at + 1])};
        };
        if (name == "l1" || name == "l2" || name == "l3") {
            if (values.size() != 4) return false;
            const auto level = static_cast<std::size_t>(name[1] - '1');
            levels[level] = shape(1);
            levels[level].line_shift = static_cast<unsigned>(values[0]);
            shares[level] = static_cast<unsigned>(values[3]);
            return true;
        }
        if (name == "tlb1" || name == "tlb2") {
            if (values.size() != 5) return false;
            tlb[name[3] - '1'] = {shape(0), shape(2), values[4] != 0};
            return true;
        }
        return false;
    }
};

// The caches of one CPU, from the first level to the last.
struct CpuCaches {
    std::array<Cache*, cache_levels> levels{};  // null: no such level
    Cache* last = nullptr;
};

class CacheTree {
  public:
    CacheTree() = default;
    // CPUs of one node with consecutive numbers share a cache.
    CacheTree(const CacheShapes& shapes, const std::vector<unsigned>& node_of_cpu)
        : of_cpu_(node_of_cpu.size()) {
        for (std::size_t level = 0; level < cache_levels; ++level) {
            if (shapes.levels[level].sets == 0) continue;
            const bool is_last = level + 1 == cache_levels || shapes.levels[level + 1].sets == 0;
            for (std::size_t first = 0; first < of_cpu_.size();) {
                std::vector<bool> members(of_cpu_.size());
                std::size_t end = first;
                while (end < of_cpu_.size() && node_of_cpu[end] == node_of_cpu[first] &&
                       (shapes.shares[level] == 0 || end - first < shapes.shares[level]))
                    members[end++] = true;
                caches_.push_back(std::make_unique<Cache>(shapes.levels[level], members, is_last));
                for (; first < end; ++first)
                    of_cpu_[first].levels[level] = of_cpu_[first].last = caches_.back().get();
            }
        }
    }

    const CpuCaches& of_cpu(std::size_t cpu) const { return of_cpu_[cpu]; }

  private:
    std::vector<std::unique_ptr<Cache>> caches_;
    std::vector<CpuCaches> of_cpu_;
};

}  // namespace nw::qemu
