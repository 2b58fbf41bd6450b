// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_numa.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/number_text.hpp"

namespace nw {

namespace {

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::string topology_table(const RunFacts& facts) {
    const std::vector<NodeInfo>& nodes = facts.result.numa.nodes;
    if (nodes.empty() || (nodes.size() == 1 && !facts.settings.verbose)) return "";
    std::string text = fmt::format("  {:>6} {:>5} {:>5} {:>7} {:>10} {:>10}  {}\n", "node", "cores",
                                   "used", "workers", "memory", "free", "distances");
    for (const NodeInfo& info : nodes) {
        std::size_t workers = 0;
        std::set<int> used;
        for (const WorkerReport& worker : facts.result.workers) {
            if (worker.node != index(info.node)) continue;
            ++workers;
            used.insert(worker.core);
        }
        text += fmt::format("  {:>6} {:>5} {:>5} {:>7} {:>10} {:>10}  {}\n", index(info.node),
                            info.cores, used.size(), workers, bytes_text(info.total_bytes),
                            bytes_text(info.free_bytes), fmt::join(info.distances, " "));
    }
    return text;
}

std::string placement_table(const RunFacts& facts) {
    const NumaReport& numa = facts.result.numa;
    if (!numa.placement || numa.nodes.size() < 2) return "";
    constexpr PageKind kinds[] = {PageKind::state, PageKind::platform, PageKind::mail};
    std::string heading = fmt::format("  {:>6}", "MiB on");
    std::string remote = fmt::format("  {:>6}", "remote");
    for (const PageKind kind : kinds) {
        heading += fmt::format(" {:>12}", name_of(kind));
        remote += fmt::format(" {:>12}", share_text(numa.placement->of(kind).remote_share()));
    }
    std::string rows;
    for (const NodeInfo& info : numa.nodes) {
        rows += fmt::format("  {:>6}", index(info.node));
        for (const PageKind kind : kinds)
            rows += fmt::format(" {:>12.1f}",
                                mebibytes(numa.placement->of(kind).resident_bytes(info.node)));
        rows += '\n';
    }
    return heading + '\n' + rows + remote + '\n';
}

std::string placement_line(const RunFacts& facts) {
    if (!facts.result.numa.placement) return "";
    return fmt::format("{} local", share_text(1 - facts.result.numa.placement->remote_share()));
}

std::string placed_line(const RunFacts& facts) {
    const PlacementChoice* const place = facts.settings.config.place;
    if (place == &local_placement) return "";
    const std::string& placed = facts.result.numa.placed;
    return fmt::format("{}{}{}", place->word, placed.empty() ? "" : ": ", placed);
}

std::string pagemigd_line(const RunFacts& facts) {
    const PagemigdReport& daemon = facts.result.numa.pagemigd;
    const MigrationFigures& figures = daemon.figures;
    const std::uint64_t unmoved = figures.pages_busy + figures.pages_no_room + figures.pages_failed;
    if (figures.pages_moved + unmoved == 0) return "";
    std::string text = fmt::format(
        "{} moved by {} with a period of {}, {} busy", plural(figures.pages_moved, "page"),
        plural(daemon.threads, "thread"), duration_text(daemon.period_seconds),
        duration_text(static_cast<double>(figures.busy_ns) / 1e9));
    if (unmoved > 0)
        text += fmt::format(
            "; {} postponed, {} without room, {} refused", with_thousands(figures.pages_busy),
            with_thousands(figures.pages_no_room), with_thousands(figures.pages_failed));
    return text;
}

std::string rebinding_line(const RunFacts& facts) {
    const std::uint64_t times = facts.count(Counter::rebindings);
    const std::uint64_t groups = facts.count(Counter::groups_moved);
    if (times == 0) return "";
    return fmt::format("{} moved in {}", plural(groups, "group"), plural(times, "rebinding"));
}

std::string memory_kinds_line(const RunFacts& facts) {
    const MemoryKinds& kinds = facts.result.numa.memory;
    if (kinds.sum() == 0) return "";
    return fmt::format("state {}, events {}, history {}, snapshots {}, mail {}",
                       bytes_text(kinds.state), bytes_text(kinds.events), bytes_text(kinds.history),
                       bytes_text(kinds.snapshots),
                       bytes_text(kinds.bottom_halves + kinds.mail_rings));
}

}  // namespace nw
