// SPDX-License-Identifier: Apache-2.0
// The results of a run that concern nodes and memory: placement of pages, migrations, and memory by
// kind. The engine writes them; the report and the statistics read them.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "numa/place/migration_log.hpp"
#include "numa/place/placement_probe.hpp"
#include "numa/place/topology.hpp"
#include "results/statistics/memory_kinds.hpp"

namespace nw {

// The placement at one moment of the run.
struct PlacementSample {
    double seconds = 0;              // since the start of the event loop
    std::uint64_t groups_moved = 0;  // since that start, like the next two members
    std::uint64_t pages_moved = 0;
    std::uint64_t passes = 0;  // of all threads of the daemon
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
    std::uint32_t threads = 0;  // 0: no daemon
    double period_seconds = 0;
    MigrationFigures figures;
};

struct NumaReport {
    std::vector<NodeInfo> nodes;
    std::optional<Placement> placement;         // at the end; empty: not measured
    std::optional<std::uint64_t> pages_shared;  // pages that belong to more than one group
    std::vector<PlacementSample> history;
    // Describes the facts that the placement policy used, and its decisions. Empty if the policy
    // has nothing to report.
    std::string placed;
    PagemigdReport pagemigd;
    MemoryKinds memory;  // summed over the workers

    // Stores the sample of the end of the run. If the kernel refused the sample, adds a notice.
    void set_placement(const Placement& sample, std::vector<std::string>& notices) {
        if (sample.status == 0)
            placement = sample;
        else
            notices.push_back(fmt::format(
                "placement is unknown: the kernel does not report the nodes of pages ({})",
                std::strerror(sample.status)));
    }
};

}  // namespace nw
