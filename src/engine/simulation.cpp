#include "engine/simulation.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "base/check.hpp"
#include "engine/engines.hpp"
#include "engine/output_merge.hpp"
#include "engine/rank_places.hpp"
#include "engine/rank_results.hpp"
#include "engine/stopwatch.hpp"

namespace nw {
namespace {

// Of the memory that is free when the run starts, what it takes at most unless told otherwise.
constexpr double memory_share_default = 0.8;

}  // namespace

void report_worker(RunResult& result, const WorkerPlaces& where, std::uint32_t worker,
                   const WorkerTally& tally) {
    WorkerReport report;
    report.counters = tally.counters;
    report.busy_seconds = tally.busy_seconds;
    if (where.pin) {
        report.core = where.places[worker].cpu;
        report.node = index(where.places[worker].node);
    }
    report.groups = tally.groups->size();
    for (const Group* group : *tally.groups) report.lps += group->count;
    result.totals.add(report.counters);
    result.workers.push_back(report);
}

namespace {

// Of the ranks that a run was launched with, whether it can use them.
void check_ranks(const RunPlan& plan, std::uint32_t ranks) {
    if (ranks == 1) return;
    if (plan.config.engine != EngineKind::timewarp)
        throw SetupError(
            "--engine: only timewarp runs on several ranks; legal here: timewarp, or one rank");
    if (plan.partition.groups() < ranks)
        throw SetupError(
            fmt::format("{} ranks for {} groups of LPs; legal: at most {} ranks, or a "
                        "smaller --lps-per-group",
                        ranks, plan.partition.groups(), plan.partition.groups()));
}

void run_engine(EngineRun& run) {
    switch (run.plan.config.engine) {
        case EngineKind::sequential:
            run_sequential(run);
            break;
        case EngineKind::conservative:
            run_conservative(run);
            break;
        case EngineKind::timewarp:
            run_timewarp(run);
            break;
    }
    run.output.finish();
}

}  // namespace

void check_run(const Setup& setup, const Config& config, std::uint32_t ranks) {
    check_ranks(RunPlan(setup, config, ranks, std::max(1u, config.workers)), ranks);
}

RunResult simulate(Model&, const Setup& setup, const Config& config, RankGroup& ranks,
                   LiveProgress& progress, const std::atomic<int>& stop_signal) {
    const Stopwatch whole;
    Os& os = linux_os();
    const Topology topology(os);
    const RankPlaces where = choose_places(
        ranks, topology, config.engine == EngineKind::sequential ? 1 : config.workers);
    const RunPlan plan(setup, config, ranks.ranks(), where.workers);

    RunResult result;
    result.numa.nodes = topology.nodes();
    const std::uint64_t memory_cap =
        config.memory_cap_bytes > 0
            ? config.memory_cap_bytes
            : static_cast<std::uint64_t>(memory_share_default *
                                         static_cast<double>(os.memory().available));
    try {
        MemorySource memory(os, config.memory, plan.partition.groups(), config.huge_pages);
        memory.set_memory_cap(memory_cap);
        result.notices = memory.notices();
        const WorkerPlaces places{where.places, config.pin, config.memory == MemoryMode::numa};
        if (config.net_thread && !where.spare_core)
            result.notices.push_back(
                "--net-thread: every core has a worker; legal, but slower than --net-thread off or "
                "one worker fewer");
        const bool spooled = ranks.ranks() > 1 && !config.output_directory.empty();
        if (!spooled) {
            OutputWriter output(setup.outputs, config.output_directory, where.workers);
            EngineRun run{plan, memory, output, ranks, places, progress, stop_signal, result};
            run_engine(run);
        } else {
            RowSpool spool(config.output_directory, index(ranks.rank()));
            OutputWriter rows(spool, where.workers);
            EngineRun run{plan, memory, rows, ranks, places, progress, stop_signal, result};
            run_engine(run);
            std::optional<OutputWriter> tables;
            if (ranks.is_first()) tables.emplace(setup.outputs, config.output_directory, 1);
            merge_output(ranks, spool, tables ? &*tables : nullptr);
        }
    } catch (const std::bad_alloc&) {
        throw MachineError(
            "out of memory; legal: a smaller model, a smaller --window, or more than "
            "the machine's free memory");
    }
    if (result.reason == EndReason::interrupted && result.signal == 0)
        result.signal = stop_signal.load();
    result.until = plan.until;
    result.rollback = plan.rollback;
    result.ranks = ranks.ranks();
    result.lps = setup.lps;
    result.groups = plan.partition.groups();
    result.lps_per_group = plan.partition.lps_per_group();
    result.nodes = static_cast<std::uint32_t>(topology.node_count());
    result.resident_peak_bytes = os.memory().resident_peak;
    result.setup_seconds = std::max(0.0, whole.wall_seconds() - result.wall_seconds);
    gather_results(ranks, result);
    return result;
}

RunResult simulate(Model& model, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal) {
    SingleProcess alone;
    return simulate(model, setup, config, alone, progress, stop_signal);
}

}  // namespace nw
