// SPDX-License-Identifier: Apache-2.0
#include "app/simulation/simulation.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/simulation/automatic.hpp"
#include "app/simulation/run_output.hpp"
#include "engine/checkpoint/saved_modules.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "engine/engine_run.hpp"
#include "engine/inorder/conservative.hpp"
#include "engine/inorder/sequential.hpp"
#include "engine/timewarp/timewarp.hpp"
#include "memory/heap/heap_guards.hpp"
#include "memory/image/outside_pointers.hpp"
#include "memory/region/shared_arena.hpp"
#include "numa/os/control_groups.hpp"
#include "results/statistics/rank_results.hpp"
#include "util/check.hpp"
#include "util/number_text.hpp"

namespace nw {
namespace {

// By default, a run takes at most this share of the memory that is free when it starts.
constexpr double memory_share_default = 0.8;

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

// Throws SetupError if there are fewer groups than ranks: a rank without a group would have nothing
// to do.
void check_ranks(const RunPlan& plan) {
    const std::uint32_t groups = plan.partition.groups();
    if (groups >= plan.ranks) return;
    throw SetupError(fmt::format("{} ranks for {} of LPs; allowed: at most {}{}", plan.ranks,
                                 groups == 1 ? "one group" : fmt::format("{} groups", groups),
                                 groups == 1 ? "one rank" : fmt::format("{} ranks", groups),
                                 plan.config.restart_from ? "" : ", or a smaller --lps-per-group"));
}

// Returns the source of segments: the region, or libc if the address space is so limited (ulimit
// -v) that a group's slot would have less than slot_bytes_min. A group may need this size.
std::unique_ptr<MemorySource> open_memory(Os& os, const RunPlan& plan,
                                          std::vector<std::string>& notices) {
    const Config& config = plan.config;
    const std::uint32_t groups = plan.partition.groups();
    constexpr std::size_t slot_bytes_min = std::size_t{1} << 30;
    std::string why;
    try {
        auto memory =
            std::make_unique<MemorySource>(os, config.memory, groups, huge_pages_of(config));
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
    notices = {why + ": segments are allocated by libc's malloc instead"};
    return std::make_unique<MemorySource>(os, MemoryMode::libc, groups, config.huge_pages);
}

// Whether all ranks have the same addresses for each group. A group keeps its addresses when it
// moves to another rank. Collective.
bool have_same_addresses(RankGroup& ranks, const MemorySource& memory) {
    const Region* region = memory.region();
    const std::string own = region == nullptr
                                ? std::string()
                                : fmt::format("{:#x} {}", region->base(), region->slot_bytes());
    const std::vector<std::string> said = ranks.share(own);
    return !own.empty() && std::all_of(said.begin(), said.end(),
                                       [&](const std::string& theirs) { return theirs == own; });
}

// Checks that memory and libraries are at the addresses that a saved run needs.
void check_saving(const Setup& setup, const Config& config, const MemorySource& memory,
                  std::vector<std::string>& notices) {
    const SavedRun* saved = config.restart_from.get();
    if (saved == nullptr && !config.save.on()) return;
    const Region* region = memory.region();
    if (region == nullptr || region->base() != region_base)
        throw SetupError(
            fmt::format("--{}: LPs cannot get the addresses that they need; allowed: --memory "
                        "numa, without `ulimit -v`",
                        saved != nullptr ? "restart" : "checkpoint"));
    if (config.save.on() && !config.save.why_addresses_differ.empty())
        notices.push_back(
            fmt::format("--checkpoint: libraries have different addresses in each process "
                        "({}); a run whose LPs point into libraries cannot be restarted",
                        config.save.why_addresses_differ));
    if (saved == nullptr) return;
    if (region->base() != saved->region_base || region->slot_bytes() != saved->slot_bytes)
        throw SetupError(
            "--restart: the amount of address space differs from when the checkpoint was written; "
            "allowed: the same `ulimit -v`");
    if (saved->stray.to_program > 0 && saved->program_shift != AddressMap::program_shift())
        throw SetupError(fmt::format(
            "--restart: {} words in LPs point into the program, which is at a different address "
            "now; allowed: a program linked with -no-pie, a flag that numawarp::numawarp sets",
            saved->stray.to_program));
    if (setup.bound_to_process && saved->stray.elsewhere > 0)
        throw SetupError(
            fmt::format("--restart: {} words in LPs look like pointers to memory outside of the "
                        "LPs (first: LP {} {}), possibly to objects of main(); allowed: a model "
                        "whose states have no such pointers",
                        saved->stray.elsewhere, saved->stray.example_lp, saved->stray.example));
    check_modules(*saved, config.save.modules);
}

// The destructors of the program and of libraries would use memory that has been rolled back, with
// undefined results. So the destructors are skipped; only the printed output is flushed.
void end_without_destructors(int exit_code, void*) {
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(exit_code);
}

// At the end of each run, also of a failed run, finds libraries that point into memory of LPs. A
// library has such pointers if it was first used in a handler. The destructors of such libraries
// would read or free this memory. The libraries are named in notices, and the program ends without
// destructors.
class PointerScan {
  public:
    PointerScan(MemorySource& memory, std::vector<std::string>& notices)
        : memory_(memory), notices_(notices) {}
    ~PointerScan() {
        if (memory_.region() == nullptr) return;
        const std::vector<PointersFromOutside> all = sample_.found();
        if (all.empty()) return;
        // If the memory of LPs keeps its contents, a library may read this memory through its
        // pointers. Pointers in the program's own variables are the model's responsibility.
        const bool stays = memory_.keeps_contents();
        if (!stays) {
            memory_.keep_mapped();
            ::on_exit(end_without_destructors, nullptr);
        }
        for (const PointersFromOutside& found : all) {
            if (stays && found.holder == "the program") continue;
            notices_.push_back(
                fmt::format("{} contains {} into memory of LPs, and a rollback may have restored "
                            "old data there; call libraries for the first time in "
                            "on_process_start() or on_worker_start()",
                            found.holder, plural(found.words, "pointer")));
        }
    }
    PointerScan(const PointerScan&) = delete;
    PointerScan& operator=(const PointerScan&) = delete;

  private:
    MemorySource& memory_;
    std::vector<std::string>& notices_;
    const OutsidePointerScan sample_{memory_.os()};
};

// Adds a notice for each measure that no LP has. Such a measure probably names a figure of a class
// that the model no longer has.
void note_measures_of_none(RunResult& result) {
    for (std::size_t i = 0; i < result.measures.size(); ++i)
        if (result.measures.figures(i).lps == 0)
            result.notices.push_back(
                fmt::format("measure {}: no LP has this figure; allowed: a figure of a class of "
                            "the model's LPs",
                            result.measures.name(i)));
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
        case EngineKind::automatic:
            run_automatic(run);
            return;
    }
    run.result.engine = run.plan.config.engine;
}

std::uint64_t memory_cap_of(const Config& config, Os& os) {
    if (config.memory_cap_bytes > 0) return config.memory_cap_bytes;
    return static_cast<std::uint64_t>(memory_share_default *
                                      static_cast<double>(os.memory().available));
}

// The number of workers of this rank; 0: one per core.
std::uint32_t workers_of(const Setup& setup, const Config& config) {
    if (config.engine == EngineKind::sequential) return 1;
    return config.workers == 0 && setup.bound_to_process ? 1 : config.workers;
}

// Reports the parts of the configuration that could not be fulfilled.
void add_notices(RunResult& result, const Setup& setup, const Config& config,
                 std::uint64_t memory_cap, std::size_t cpus) {
    if (setup.bound_to_process && config.workers == 0 && config.engine != EngineKind::sequential &&
        result.ranks == 1 && cpus > 1)
        result.notices.emplace_back(
            "--workers 1: preferred by this model; allowed: more workers, if its handlers share "
            "nothing (--check-model)");
    constexpr double promised_share = 1.05;
    if (static_cast<double>(result.resident_peak_bytes) >
        promised_share * static_cast<double>(memory_cap))
        result.notices.push_back(
            fmt::format("--memory-cap: the limit of {} was exceeded; the peak was {}",
                        mebibytes_text(static_cast<double>(memory_cap)),
                        mebibytes_text(static_cast<double>(result.resident_peak_bytes))));
    for (std::string& notice : hardware_notices(result.hardware))
        result.notices.push_back(std::move(notice));
    if (config.protect_shared && !SharedArena::is_whole())
        result.notices.push_back(
            "--protect-shared: the kernel does not permit that all memory of setup() is read-only; "
            "writes of handlers to this memory may stay undetected");
}

}  // namespace

Simulation::Simulation(const Setup& setup, const Config& config, RankGroup& ranks)
    : setup_(setup),
      config_(config),
      ranks_(ranks),
      topology_(linux_os()),
      where_(choose_places(ranks, topology_, workers_of(setup, config),
                           ControlGroups().cpu_quota())) {}

namespace {

// Adds the names of kinds and event types to the figures of each LpKinds::Slot. The report prints
// these names.
void report_kinds(const LpKinds& kinds, const std::vector<StateKeepingRules>& state_keeping,
                  RunResult& result) {
    std::vector<KindReport> reports;
    result.state_bytes_by_kind.resize(kinds.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        const Kind& kind = kinds[static_cast<std::uint8_t>(k)];
        reports.push_back({.kind = kind.name,
                           .lps = kind.count,
                           .rollback = state_keeping[k].method->value,
                           .committed = 0,
                           .rolled_back = 0,
                           .state_bytes = result.state_bytes_by_kind[k]});
    }
    for (std::size_t s = 0; s < kinds.slots().size(); ++s) {
        const LpKinds::Slot& slot = kinds.slots()[s];
        const EventFigures& figures = result.of_workers.events[s];
        KindReport& report = reports[slot.kind];
        report.committed += figures.committed;
        report.rolled_back += figures.rolled_back;
        const bool has_any = figures.committed + figures.rolled_back > 0;
        if (slot.event != nullptr)
            result.event_types.push_back(
                {report.kind, slot.event->name, slot.event->type, figures});
        else if (has_any)
            result.event_types.push_back({report.kind, "others", std::nullopt, figures});
    }
    if (kinds.kinds().are_named()) result.kinds = std::move(reports);
}

void note_lost_cpus(const std::vector<int>& before, const std::vector<int>& after,
                    std::vector<std::string>& notices) {
    std::vector<int> gone;
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                        std::back_inserter(gone));
    if (gone.empty()) return;
    notices.push_back(
        fmt::format("{} of {} CPUs were taken from the process while it ran: {}; its workers "
                    "continued on the others",
                    gone.size(), before.size(), fmt::join(gone, " ")));
}

}  // namespace

// Workers that share a CPU get fewer LPs than a worker with its own CPU. All ranks must compute the
// same partition. But a rank does not receive the list of the CPUs of the other ranks, so with
// several ranks all workers have equal shares.
std::vector<double> Simulation::worker_shares() const {
    if (ranks_.ranks() > 1 || !config_.pin) return {};
    const std::vector<double> shares = shares_of_cpus(where_.places);
    const bool are_equal = std::ranges::adjacent_find(shares, std::not_equal_to{}) == shares.end();
    return are_equal ? std::vector<double>{} : shares;
}

void Simulation::plan() {
    const SavedRun* const saved = config_.restart_from.get();
    plan_.emplace(setup_, config_, ranks_.ranks(), where_.workers,
                  saved != nullptr ? &saved->partition : nullptr, worker_shares());
    check_ranks(*plan_);
}

void Simulation::run_events(Model& model, std::uint64_t memory_cap, LiveProgress& progress,
                            const std::atomic<int>& stop_signal, RunResult& result) {
    const std::unique_ptr<MemorySource> memory = open_memory(linux_os(), *plan_, result.notices);
    memory->set_memory_cap(memory_cap);
    if (setup_.bound_to_process) memory->keep_contents();
    const PointerScan pointer_scan(*memory, result.notices);
    const bool crowded_by_net =
        config_.net_thread && !where_.spare_core && may_be_timewarp(config_);
    const WorkerPlaces places{.places = where_.places,
                              .pin = config_.pin,
                              .local_memory = config_.memory == MemoryMode::numa,
                              .strict_memory = config_.place->is_strict,
                              .share_cpus = where_.share_cpus || crowded_by_net,
                              .sharers = where_.sharers,
                              .number = where_.number,
                              .host_places = where_.host_places};
    if (crowded_by_net)
        result.notices.push_back(
            "--net-thread: no core is free for this thread, because every core has a worker; "
            "--net-thread off or one worker fewer is faster");
    if (plan_->moves_between_ranks() && !have_same_addresses(ranks_, *memory)) {
        plan_->same_addresses = false;
        result.notices.emplace_back(
            "--rebind-ranks: groups stay on their ranks, because LPs cannot have the same "
            "addresses on all ranks; allowed: the same `ulimit -v` everywhere, or none");
    }
    check_saving(setup_, config_, *memory, result.notices);
    RunOutput output(*plan_, ranks_);
    EngineRun run{model,
                  *plan_,
                  *memory,
                  output.writer(),
                  ranks_,
                  places,
                  progress,
                  stop_signal,
                  result,
                  [&] { return output.sync(); },
                  [&] { output.begin(); }};
    result.measures = MeasureSums(setup_.measures, plan_->measure_times);
    detail::set_measured_from(config_.warm_up);
    run_engine(run);
    if (config_.restart_from && ranks_.is_first())
        result.measures.intervals() += config_.restart_from->intervals;
    // Either all ranks are interrupted, or none is. So `is_measured` is equal on all ranks, and
    // either all ranks call gather(), or none does.
    const bool is_measured = result.reason != EndReason::interrupted && !setup_.measures.empty();
    if (is_measured)
        result.measures.gather(ranks_, result.end_time);
    else
        result.measures = {};
    if (is_measured && ranks_.is_first()) note_measures_of_none(result);
    output.finish(is_measured && ranks_.is_first() ? measure_rows(result.measures, setup_.outputs)
                                                   : std::vector<OutputRow>{});
    result.column_kinds = output.column_kinds();
}

RunResult Simulation::run(Model& model, LiveProgress& progress,
                          const std::atomic<int>& stop_signal) {
    for (const std::string& line : describe_places(ranks_, where_, config_.pin))
        if (progress.announce) progress.announce(line);

    Os& os = linux_os();
    const HeapGuards::Use guards(config_.check_heap);
    RunResult result;
    result.numa.nodes = topology_.nodes();
    const std::uint64_t memory_cap = memory_cap_of(config_, os);
    const std::vector<int> cpus = os.thread_cpus();
    try {
        run_events(model, memory_cap, progress, stop_signal, result);
    } catch (const std::bad_alloc&) {
        throw MachineError(
            "out of memory; allowed: a smaller model, a smaller --window, or a machine "
            "with more free memory");
    }
    if (result.reason == EndReason::interrupted && result.signal == 0)
        result.signal = stop_signal.load();
    result.until = plan_->until;
    result.rollback = plan_->state_keeping.front().method->value;
    result.commits_late = plan_->commits_late();
    result.ranks = ranks_.ranks();
    result.lps = setup_.lps;
    result.groups = plan_->partition.groups();
    result.lps_per_group = plan_->partition.lps_per_group();
    result.nodes = static_cast<std::uint32_t>(topology_.node_count());
    result.resident_peak_bytes = os.memory().resident_peak;
    add_notices(result, setup_, config_, memory_cap, cpus.size());
    note_lost_cpus(cpus, os.thread_cpus(), result.notices);
    result.setup_seconds = progress.since_begin.seconds_after(whole_);
    gather_results(ranks_, result);
    if (config_.restart_from) {
        const SavedProgress& before = config_.restart_from->progress;
        result.totals.add(before.totals);
        result.wall_seconds += before.wall_seconds;
        result.wall_seconds_before = before.wall_seconds;
        result.saving.restarted_at = before.gvt;
    }
    report_kinds(plan_->kinds, plan_->state_keeping, result);
    for (const RolledBackLp& lp : result.most_rolled_back_lps)
        result.most_rolled_back.push_back({lp, plan_->kinds.name(lp.lp)});
    end_history(result.history, totals_of(result));
    return result;
}

RunResult simulate(Model& model, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal) {
    SingleProcess alone;
    Simulation simulation(setup, config, alone);
    simulation.plan();
    return simulation.run(model, progress, stop_signal);
}

}  // namespace nw
