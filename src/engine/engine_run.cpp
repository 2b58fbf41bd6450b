// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_run.hpp"

namespace nw {

void report_lps(RunResult& result, const std::vector<Group*>& groups) {
    add_digest(groups, result.digest);
    for (const Group* group : groups) {
        for (std::uint32_t i = 0; i < group->count; ++i) {
            const LpRecord& lp = group->lps[i];
            if (lp.kind >= result.state_bytes_by_kind.size())
                result.state_bytes_by_kind.resize(lp.kind + std::size_t{1});
            result.state_bytes_by_kind[lp.kind] += lp.heap.used_bytes();
        }
    }
}

std::vector<std::uint64_t>& sent_by_rank(RunResult& result, std::uint32_t ranks) {
    if (result.communication.empty()) result.communication.emplace_back(ranks);
    return result.communication.front();
}

void report_worker(RunResult& result, const WorkerPlaces& where, std::uint32_t worker,
                   const WorkerTally& tally) {
    WorkerReport report;
    report.counters = tally.counters;
    report.busy_seconds = tally.busy_seconds;
    report.asleep_seconds = tally.asleep_seconds;
    if (where.pin) {
        report.core = where.places[worker].cpu;
        report.node = index(where.places[worker].node);
    }
    report.groups = tally.groups->size();
    for (const Group* group : *tally.groups) report.lps += group->count;
    if (result.workers.empty())
        result.hardware = tally.hardware;
    else
        result.hardware += tally.hardware;
    result.totals.add(report.counters);
    result.of_workers += tally.figures;
    result.workers.push_back(report);
}

}  // namespace nw
