// SPDX-License-Identifier: Apache-2.0
// The modeled time of memory accesses: caches and TLBs (jobs/research/qemu/caches.hpp), the latency
// between nodes, and memories and links of limited bandwidth.
//
//   hit in the first level     nothing: part of the time of an instruction
//   hit in another level       the level's time
//   no level of the TLB hits   the time of a walk through the page table, for each access
//   miss of all caches         the latency from the CPU's node to the node of the page. If a CPU
//                              with another last level wrote the line last, and this level holds
//                              the line: the latency to the node of that CPU
//   store to a line that       at least the latency to the node of the page
//   another CPU has written,
//   and a cache holds
//
// Misses of the first level overlap if their lines are consecutive, and so do misses of stores: the
// time of the level or of the memory is divided by `overlap`. All other misses wait one after the
// other. A transfer that finds its memory or its link full also waits for room.
//
// Not modeled: memory order, simultaneous threads of a core, prefetching, write-back, instruction
// fetches, queues below saturation, independent misses at the same time, invalidations of TLB
// entries, physical links that several pairs of nodes share. Requires: lines of 64 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "jobs/research/qemu/cache_tree.hpp"
#include "jobs/research/qemu/guest_memory.hpp"
#include "jobs/research/timed/plugin/ledger.hpp"

namespace nw::timed {

inline constexpr std::size_t nodes_max = 16;

// Matrices: [node of the CPU][node of the memory].
struct CostRules {
    std::vector<unsigned> node_of_cpu;
    qemu::GuestMemory memory;
    qemu::CacheShapes caches;
    std::array<Picoseconds, qemu::cache_levels> hit{};
    Picoseconds walk = 0;
    Picoseconds latency[nodes_max][nodes_max] = {};
    std::uint64_t link[nodes_max][nodes_max] = {};  // MB/s; 0: no limit
    std::uint64_t bandwidth[nodes_max] = {};        // MB/s of each memory; 0: no limit
    std::uint64_t overlap = 1;

    // Sets what the argument `name` of the plug-in describes. Returns false if the name is unknown
    // or the values are wrong. Requires: `memory` is set before the matrices and `bandwidth`.
    //
    //   cpus=N:N:…        the node of each CPU
    //   memory=BYTES:…    the memory of each node
    //   l1, l2, l3, tlb1, tlb2    as for qemu::CacheShapes
    //   hit=PS:…          time of each level; the first one has no effect
    //   walk=PS           time of a walk through the page table
    //   latency=PS:…      row by row
    //   link=MB/s:…       row by row
    //   bandwidth=MB/s:…  of each memory
    //   overlap=N
    bool set(std::string_view name, const std::vector<std::uint64_t>& values);
    // Whether all arguments that belong together have been set.
    bool is_complete() const;
};

struct AccessCounts {
    std::uint64_t accesses = 0;
    std::uint64_t stores = 0;        // of the accesses
    std::uint64_t first_misses = 0;  // lines that were not in the first level
    std::uint64_t walks = 0;
    std::uint64_t memory[nodes_max] = {};  // lines from the memory of each node
    std::uint64_t passed[nodes_max] = {};  // lines from the caches of each node
    std::uint64_t upgrades = 0;            // stores to lines that other CPUs may hold
    Picoseconds waited = 0;                // for room in memories and links
};

struct Access {
    std::uint64_t address;  // virtual
    std::uint64_t offset;   // in the guest's RAM
    unsigned bytes;
    bool is_store;
};

class CostModel {
  public:
    // Requires: rules.is_complete().
    explicit CostModel(CostRules rules);

    // The time that an access at the time `now` takes. Thread: of the CPU.
    Picoseconds cost_of(unsigned cpu, const Access& access, Picoseconds now);

    const AccessCounts& counts(unsigned cpu) const { return cpus_[cpu]->counts; }

  private:
    // The last lines that were not in a CPU's first level, to detect consecutive lines.
    class Streams {
      public:
        // Returns whether the line follows, or precedes, one of the last lines. Stores the line.
        bool continues(std::uint64_t line);

      private:
        std::array<std::uint64_t, 16> last_{};
        unsigned next_ = 0;
    };
    struct Cpu {
        explicit Cpu(const qemu::TlbShape (&shapes)[2]) : tlb(shapes) {}
        unsigned number = 0;
        unsigned node = 0;
        qemu::CpuCaches caches;
        qemu::Tlb tlb;
        Streams streams;
        AccessCounts counts;
    };

    Picoseconds cost_of_line(Cpu& cpu, std::uint64_t address, std::uint64_t offset, bool is_store,
                             Picoseconds now);
    struct Miss {
        Picoseconds latency = 0;
        Picoseconds wait = 0;  // for room
    };
    // Gets a line from memory or from the caches of another CPU.
    Miss fetch(Cpu& cpu, std::uint64_t offset, qemu::Stamp stamp, Picoseconds now);
    // Whether the line is in the last level of the writer's caches, which is not the CPU's own one.
    bool is_in_other_cache(const Cpu& cpu, unsigned writer, std::uint64_t offset);

    CostRules rules_;
    qemu::CacheTree caches_;
    qemu::Stamps stamps_;
    std::vector<std::unique_ptr<Cpu>> cpus_;
    std::vector<Ledger> memories_;            // of each node
    std::vector<std::vector<Ledger>> links_;  // [node of the CPU][node of the memory]
};

}  // namespace nw::timed
