#include "run/simulation.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "base/check.hpp"
#include "checkpoint/saved_modules.hpp"
#include "checkpoint/saved_run.hpp"
#include "engine/engines.hpp"
#include "numa/heap/heap_guards.hpp"
#include "numa/image/outside_pointers.hpp"
#include "numa/region/shared_arena.hpp"
#include "output/output_merge.hpp"
#include "plan/rank_places.hpp"
#include "stats/rank_results.hpp"
#include "stats/stopwatch.hpp"

namespace nw {
namespace {

// Of the memory that is free when the run starts, what it takes at most unless told otherwise.
constexpr double memory_share_default = 0.8;

}  // namespace

void report_worker(RunResult& result, const WorkerPlaces& where, std::uint32_t worker,
                   const WorkerTally& tally) {
    WorkerReport report;
    report.counters = tally.counters;
    report.rollback_lengths = tally.rollback_lengths;
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

RunSample totals_of(const RunResult& result) {
    RunSample last;
    last.seconds = result.wall_seconds;
    last.gvt = result.end_time;
    last.committed_events = result.totals[Counter::committed_events];
    last.executed_events = result.totals[Counter::executed_events];
    last.rolled_back_events = result.totals[Counter::rolled_back_events];
    last.gvt_rounds = result.totals[Counter::gvt_rounds];
    return last;
}

// Of the ranks that a run was launched with, whether it can use them.
void check_ranks(const RunPlan& plan, std::uint32_t ranks) {
    if (ranks == 1) return;
    if (plan.partition.groups() < ranks)
        throw SetupError(fmt::format(
            "{} ranks for {} of LPs; legal: at most {}{}", ranks,
            plan.partition.groups() == 1 ? "one group"
                                         : fmt::format("{} groups", plan.partition.groups()),
            plan.partition.groups() == 1 ? "one rank"
                                         : fmt::format("{} ranks", plan.partition.groups()),
            plan.config.restart_from ? "" : ", or a smaller --lps-per-group"));
}

// Segments from the region, or from libc where the address space is limited (ulimit -v) so that a group
// would have less than it may well come to take.
std::unique_ptr<MemorySource> open_memory(Os& os, const RunPlan& plan,
                                          std::vector<std::string>& notices) {
    const Config& config = plan.config;
    const std::uint32_t groups = plan.partition.groups();
    constexpr std::size_t slot_bytes_min = std::size_t{1} << 30;
    std::string why;
    try {
        auto memory = std::make_unique<MemorySource>(os, config.memory, groups, config.huge_pages);
        const Region* region = memory->region();
        if (region == nullptr || !region->limited() || region->slot_bytes() >= slot_bytes_min) {
            notices = memory->notices();
            return memory;
        }
        why = memory->notices().front();
    } catch (const MachineError& error) {
        if (config.memory == MemoryMode::libc) throw;
        why = error.what();
    }
    notices = {why + ": segments come from libc's malloc instead"};
    return std::make_unique<MemorySource>(os, MemoryMode::libc, groups, config.huge_pages);
}

// The first rank's; null elsewhere, and without --output.
std::unique_ptr<CsvTables> open_tables(const RankGroup& ranks, const Setup& setup,
                                       const Config& config) {
    const std::string& folder = config.output_directory;
    if (folder.empty() || !ranks.is_first()) return nullptr;
    return config.restart_from
               ? std::make_unique<CsvTables>(setup.outputs, folder, config.restart_from->output)
               : std::make_unique<CsvTables>(setup.outputs, folder);
}

// Whether memory and libraries are where a saved run needs them.
void check_saving(const Config& config, const MemorySource& memory,
                  std::vector<std::string>& notices) {
    const SavedRun* saved = config.restart_from.get();
    if (saved == nullptr && !config.save.on()) return;
    const Region* region = memory.region();
    if (region == nullptr || region->base() != region_base)
        throw SetupError(fmt::format(
            "--{}: LPs cannot have the addresses that they need; legal: --memory numa, without "
            "`ulimit -v`",
            saved != nullptr ? "restart" : "checkpoint"));
    if (config.save.on() && !config.save.why_addresses_differ.empty())
        notices.push_back(
            fmt::format("--checkpoint: libraries have other addresses in each process here ({}): a "
                        "run whose LPs point into them is refused when it is to go on",
                        config.save.why_addresses_differ));
    if (saved == nullptr) return;
    if (region->base() != saved->region_base || region->slot_bytes() != saved->slot_bytes)
        throw SetupError(
            "--restart: there is another amount of address space than when the checkpoint was "
            "written; legal: the same `ulimit -v`");
    if (saved->stray.to_program > 0 && saved->program_shift != AddressMap::program_shift())
        throw SetupError(fmt::format(
            "--restart: {} words in LPs point into the program, which lies elsewhere now; legal: a "
            "program linked with -no-pie, as numawarp::numawarp has it",
            saved->stray.to_program));
    check_modules(*saved, config.save.modules);
}

// What the program's and libraries' own destructors would do with memory that has been rolled back under
// them, nobody knows. So they are left out, but for what was printed.
void end_without_destructors(int exit_code, void*) {
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(exit_code);
}

// When the run is over, however it ends: libraries that were first used in a handler point into memory
// of LPs, and would read or free it when they take themselves down. They are named, and the program ends
// without their destructors.
class LookForPointers {
  public:
    LookForPointers(MemorySource& memory, std::vector<std::string>& notices)
        : memory_(memory), notices_(notices) {}
    ~LookForPointers() {
        if (memory_.region() == nullptr) return;
        const std::vector<PointersFromOutside> all = look_.found();
        if (all.empty()) return;
        memory_.keep_mapped();
        ::on_exit(end_without_destructors, nullptr);
        for (const PointersFromOutside& found : all) {
            notices_.push_back(
                fmt::format("{} points into memory of LPs, in {} words, and may have lost what it "
                            "had there in a "
                            "rollback; start libraries in on_process_start() or on_worker_start()",
                            found.holder, found.words));
        }
    }
    LookForPointers(const LookForPointers&) = delete;
    LookForPointers& operator=(const LookForPointers&) = delete;

  private:
    MemorySource& memory_;
    std::vector<std::string>& notices_;
    const OutsideLook look_;
};

// That the run goes on from; null: it begins.
const SavedPartition* saved_partition(const Config& config) noexcept {
    return config.restart_from ? &config.restart_from->partition : nullptr;
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
}

}  // namespace

void check_run(const Setup& setup, const Config& config, std::uint32_t ranks) {
    check_ranks(
        RunPlan(setup, config, ranks, std::max(1u, config.workers), saved_partition(config)),
        ranks);
}

RunResult simulate(Model& model, const Setup& setup, const Config& config, RankGroup& ranks,
                   LiveProgress& progress, const std::atomic<int>& stop_signal) {
    const Stopwatch whole;
    Os& os = linux_os();
    const Topology topology(os);
    const RankPlaces where = choose_places(
        ranks, topology, config.engine == EngineKind::sequential ? 1 : config.workers);
    const RunPlan plan(setup, config, ranks.ranks(), where.workers, saved_partition(config));
    for (const std::string& line : describe_places(ranks, where, config.pin))
        if (progress.announce) progress.announce(line);

    const HeapGuards::Use guards(config.check_heap);
    RunResult result;
    result.numa.nodes = topology.nodes();
    const std::uint64_t memory_cap =
        config.memory_cap_bytes > 0
            ? config.memory_cap_bytes
            : static_cast<std::uint64_t>(memory_share_default *
                                         static_cast<double>(os.memory().available));
    try {
        const std::unique_ptr<MemorySource> source = open_memory(os, plan, result.notices);
        MemorySource& memory = *source;
        memory.set_memory_cap(memory_cap);
        const LookForPointers look_for_pointers(memory, result.notices);
        const WorkerPlaces places{
            .places = where.places,
            .pin = config.pin,
            .local_memory = config.memory == MemoryMode::numa,
            .share_cpus = where.share_cpus || (config.net_thread && !where.spare_core)};
        if (config.net_thread && !where.spare_core)
            result.notices.push_back(
                "--net-thread: every core has a worker; legal, but slower than --net-thread off or "
                "one worker fewer");
        check_saving(config, memory, result.notices);
        std::optional<RowSpool> spool;
        if (ranks.ranks() > 1 && !config.output_directory.empty())
            spool.emplace(config.output_directory, index(ranks.rank()));
        const auto tables = open_tables(ranks, setup, config);
        OutputWriter output(spool ? static_cast<RowSink*>(&*spool) : tables.get(), where.workers);
        const auto collect = [&] {
            output.finish();
            if (spool) merge_output(ranks, *spool, tables.get());
        };
        const auto sync = [&] {
            collect();
            return tables ? tables->sync() : OutputPosition{};
        };
        const auto begin = [&] {
            if (tables) tables->begin();
        };
        EngineRun run{model,    plan,        memory, output, ranks, places,
                      progress, stop_signal, result, sync,   begin};
        run_engine(run);
        collect();
        if (tables) {
            tables->finish();
            result.column_kinds = tables->column_kinds();
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
    constexpr double promised_share = 1.05;
    if (static_cast<double>(result.resident_peak_bytes) >
        promised_share * static_cast<double>(memory_cap))
        result.notices.push_back(
            fmt::format("--memory-cap: {} MiB were exceeded; at most {} MiB were in use",
                        memory_cap >> 20, result.resident_peak_bytes >> 20));
    if (config.protect_shared && !SharedArena::is_whole())
        result.notices.push_back(
            "--protect-shared: the kernel does not let us have all that setup() made in one place, "
            "read-only: handlers that write there may go unseen");
    result.setup_seconds = std::max(0.0, whole.wall_seconds() - result.wall_seconds);
    gather_results(ranks, result);
    if (config.restart_from) {
        const SavedProgress& before = config.restart_from->progress;
        result.totals.add(before.totals);
        result.wall_seconds += before.wall_seconds;
        result.wall_seconds_before = before.wall_seconds;
        result.saving.restarted_at = before.gvt;
    }
    end_history(result.history, totals_of(result));
    return result;
}

RunResult simulate(Model& model, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal) {
    SingleProcess alone;
    return simulate(model, setup, config, alone, progress, stop_signal);
}

}  // namespace nw
