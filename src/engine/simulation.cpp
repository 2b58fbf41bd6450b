#include "engine/simulation.hpp"

#include <algorithm>
#include <new>

#include "base/check.hpp"
#include "engine/engines.hpp"
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

RunResult simulate(Model&, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal) {
    const Stopwatch whole;
    Os& os = linux_os();
    const Topology topology(os);
    std::uint32_t workers =
        config.workers > 0 ? config.workers : static_cast<std::uint32_t>(topology.core_count());
    if (config.engine == EngineKind::sequential) workers = 1;
    const RunPlan plan(setup, config, 1, workers);

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
        OutputWriter output(setup.outputs, config.output_directory, workers);
        const WorkerPlaces places{topology.place_workers(workers), config.pin,
                                  config.memory == MemoryMode::numa};
        EngineRun run{plan, memory, output, places, progress, stop_signal, result};
        switch (config.engine) {
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
        output.finish();
    } catch (const std::bad_alloc&) {
        throw MachineError(
            "out of memory; legal: a smaller model, a smaller --window, or more than "
            "the machine's free memory");
    }
    result.signal = result.reason == EndReason::interrupted ? stop_signal.load() : 0;
    result.until = plan.until;
    result.rollback = plan.rollback;
    result.lps = setup.lps;
    result.groups = plan.partition.groups();
    result.lps_per_group = plan.partition.lps_per_group();
    result.nodes = static_cast<std::uint32_t>(topology.node_count());
    result.resident_peak_bytes = os.memory().resident_peak;
    result.setup_seconds = std::max(0.0, whole.wall_seconds() - result.wall_seconds);
    return result;
}

}  // namespace nw
