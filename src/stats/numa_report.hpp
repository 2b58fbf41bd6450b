// What a run tells of nodes and memory: where pages lay, what was moved, and what the memory was
// for. Filled by the engine, read by the report and the statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "numa/place/migration_log.hpp"
#include "numa/place/placement_probe.hpp"
#include "numa/place/topology.hpp"
#include "stats/memory_kinds.hpp"

namespace nw {

// A look at placement during the run.
struct PlacementSample {
    double seconds = 0;              // since the event loop began
    std::uint64_t groups_moved = 0;  // since then
    std::uint64_t pages_moved = 0;
    std::uint64_t passes = 0;  // of the daemon's threads, since then
    double remote_page_share = 0;

    template <class Visitor>
    void visit(Visitor&& member) const {
        member("seconds", seconds);
        member("groups_moved", groups_moved);
        member("pages_moved", pages_moved);
        member("passes", passes);
        member("remote_page_share", remote_page_share);
    }
};

struct PagemigdReport {
    std::uint32_t threads = 0;  // 0: there was no daemon
    double period_seconds = 0;
    MigrationFigures figures;
};

struct NumaReport {
    std::vector<NodeInfo> nodes;
    std::optional<Placement> placement;         // at the end; none: nobody asked the kernel
    std::optional<std::uint64_t> pages_shared;  // pages that belong to more than one group
    std::vector<PlacementSample> history;
    std::string
        placed;  // what the policy went by and did, in words; empty: nothing out of the ordinary
    PagemigdReport pagemigd;
    MemoryKinds memory;  // sums over workers
};

}  // namespace nw
