#include "stats/rank_results.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/packing.hpp"

namespace nw {
namespace {

// (The trace stays where it is: write_trace() fetches it.)
// One list for both directions.
template <class Visitor, class Result>
void visit_parts(Visitor& part, Result& result) {
    part(result.digest);
    part(result.wall_seconds);
    part(result.setup_seconds);
    part(result.resident_peak_bytes);
    part(result.segments_bytes);
    part(result.messages_left);
    part(result.totals);
    part(result.workers);
    part(result.communication);
    part(result.rollback_spots);
    part(result.notices);
    part(result.numa.memory);
    part(result.numa.pagemigd);
}

template <class Visitor, class AnyPlacement>
void visit_placement(Visitor& part, AnyPlacement& placement) {
    part(placement.status);
    for (auto& kind : placement.kinds) {
        part(kind.pages);
        part(kind.asked);
        part(kind.resident);
        part(kind.misplaced);
        part(kind.by_node);
    }
}

std::string pack(const RunResult& result) {
    Packer part;
    visit_parts(part, result);
    part(result.numa.placement.has_value());
    if (result.numa.placement) visit_placement(part, *result.numa.placement);
    part(result.numa.pages_shared.has_value());
    part(result.numa.pages_shared.value_or(0));
    return part.take();
}

RunResult unpack(const std::string& bytes) {
    RunResult result;
    Unpacker part(bytes);
    visit_parts(part, result);
    bool placed = false, counted = false;
    part(placed);
    if (placed) visit_placement(part, result.numa.placement.emplace());
    part(counted);
    std::uint64_t shared = 0;
    part(shared);
    if (counted) result.numa.pages_shared = shared;
    return result;
}

void add_placement(std::optional<Placement>& sum, const std::optional<Placement>& other) {
    if (!other) return;
    if (!sum) {
        sum = other;
        return;
    }
    for (std::size_t k = 0; k < page_kinds; ++k) {
        PagePlacement& into = sum->kinds[k];
        const PagePlacement& from = other->kinds[k];
        into.pages += from.pages;
        into.asked += from.asked;
        into.resident += from.resident;
        into.misplaced += from.misplaced;
        into.by_node.resize(std::max(into.by_node.size(), from.by_node.size()));
        for (std::size_t n = 0; n < from.by_node.size(); ++n) into.by_node[n] += from.by_node[n];
    }
    if (sum->status == 0) sum->status = other->status;
}

void add(RunResult& sum, const RunResult& other, std::uint32_t rank) {
    sum.digest += other.digest;
    sum.wall_seconds = std::max(sum.wall_seconds, other.wall_seconds);
    sum.setup_seconds = std::max(sum.setup_seconds, other.setup_seconds);
    sum.resident_peak_bytes += other.resident_peak_bytes;
    sum.segments_bytes += other.segments_bytes;
    sum.messages_left += other.messages_left;
    sum.totals.add(other.totals);
    for (WorkerReport worker : other.workers) {
        worker.rank = rank;
        sum.workers.push_back(worker);
    }
    sum.communication.push_back(other.communication.front());
    for (const RollbackSpot& spot : other.rollback_spots) add_spot(sum.rollback_spots, spot);
    // What all ranks say need not be said by each.
    for (const std::string& notice : other.notices)
        if (std::find(sum.notices.begin(), sum.notices.end(), notice) == sum.notices.end())
            sum.notices.push_back(fmt::format("rank {}: {}", rank, notice));
    sum.numa.memory += other.numa.memory;
    add_placement(sum.numa.placement, other.numa.placement);
    if (other.numa.pages_shared)
        sum.numa.pages_shared = sum.numa.pages_shared.value_or(0) + *other.numa.pages_shared;
    MigrationFigures& figures = sum.numa.pagemigd.figures;
    const MigrationFigures& more = other.numa.pagemigd.figures;
    figures.pages_moved += more.pages_moved;
    figures.pages_busy += more.pages_busy;
    figures.pages_no_room += more.pages_no_room;
    figures.pages_failed += more.pages_failed;
    figures.groups_served += more.groups_served;
    figures.passes += more.passes;
    figures.busy_ns += more.busy_ns;
}

}  // namespace

void gather_results(RankGroup& ranks, RunResult& result) {
    if (ranks.ranks() == 1) return;
    if (!ranks.is_first()) {
        ranks.send(RankId{0}, pack(result));
        return;
    }
    for (std::uint32_t r = 1; r < ranks.ranks(); ++r)
        add(result, unpack(ranks.receive(RankId{r})), r);
    NW_CHECK(result.messages_left == 0);  // everything that was sent was received
}

}  // namespace nw
