// Runs a model to its end with the engine the configuration asks for. The one door from src/main
// into the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/digest.hpp"
#include "output/column_kinds.hpp"
#include "plan/config.hpp"
#include "stats/numa_report.hpp"
#include "stats/run_history.hpp"
#include "stats/trace.hpp"
#include "net/rank_group.hpp"

namespace nw {

// What a long run tells while it runs. Written by the engine at GVT rounds (sequential: every few
// thousand events), read by the progress line at any time.
struct LiveProgress {
    std::atomic<double> gvt{0};
    std::atomic<std::uint64_t> committed_events{0};
    std::atomic<std::uint64_t> executed_events{0};
    std::atomic<std::uint64_t> groups_moved{0};

    // False while the run is set up. What stands above when it becomes true is where the run begins: a
    // run that was restarted has a GVT then.
    std::atomic<bool> begun{false};
    // Thread: the one that writes what stands above.
    void begin(double first_gvt) {
        gvt.store(first_gvt, std::memory_order_relaxed);
        begun.store(true, std::memory_order_release);
    }

    // Called by any thread of the run, rarely, with one line that the user should see while it goes
    // on. May be empty. Set before the run.
    std::function<void(const std::string&)> warn;

    // Called when the run has failed on this rank of several, in the handler of the exception and before
    // anything is taken down: other ranks are still running, and to take a transport or memory down
    // beside them may never end. Need not return. May be empty. Set before the run.
    std::function<void()> failed;

    // Called before the run begins with a line for each rank: where its workers will run. May be empty.
    // Set before the run.
    std::function<void(const std::string&)> announce;

    // How often the user has asked where the run's pages are. While the engine watches placement it
    // answers, by warn().
    std::atomic<std::uint32_t> placement_requests{0};
    std::atomic<bool> placement_watched{false};
};

struct WorkerReport {
    std::uint32_t rank = 0;
    Counters counters;
    RollbackLengths rollback_lengths;
    double busy_seconds = 0;  // CPU time of the worker's thread
    int core = -1;            // -1: not pinned
    int node = -1;
    std::uint64_t lps = 0;
    std::uint64_t groups = 0;
};

// What was done for --checkpoint, and what a run with --restart has gone on from.
struct SavingReport {
    std::uint64_t written = 0;                // times the run was saved
    std::uint64_t bytes = 0;                  // of the last time, on all ranks
    double seconds = 0;                       // that nobody executed meanwhile, all together
    std::optional<VirtualTime> saved_at;      // GVT of the last time
    std::optional<VirtualTime> restarted_at;  // GVT
};

enum class EndReason : std::uint8_t { until, no_events, all_can_end, interrupted };

struct RunResult {
    Digest digest;
    EndReason reason = EndReason::until;
    int signal = 0;            // with EndReason::interrupted: SIGINT or SIGTERM
    VirtualTime until = 0;     // what was asked for
    VirtualTime end_time = 0;  // final GVT, at most `until`
    Rollback rollback = Rollback::snapshot;
    std::uint32_t ranks = 1;
    std::uint32_t lps = 0;
    std::uint32_t groups = 0;
    std::uint32_t lps_per_group = 0;
    std::uint32_t nodes = 1;
    double wall_seconds = 0;         // the event loop alone; likewise of the whole run
    double wall_seconds_before = 0;  // of those, what earlier processes took: with --restart
    double setup_seconds = 0;
    std::uint64_t resident_peak_bytes = 0;
    std::uint64_t segments_bytes = 0;
    NumaReport numa;
    SavingReport saving;             // the first rank's
    std::int64_t messages_left = 0;  // sent less received, of this rank; 0 over all
    ColumnKinds column_kinds;        // of the tables of output; the first rank's
    Counters totals;                 // of the whole run: with what was done before it was saved
    std::vector<RunSample> history;  // over all ranks, taken by the first
    // Events and anti-events from rank to rank; one row, its own, before the results are gathered.
    std::vector<std::vector<std::uint64_t>> communication;
    std::vector<WorkerReport> workers;
    std::vector<RollbackSpot> rollback_spots;  // the worst LPs, worst first
    std::vector<NamedTrack> trace;             // with Config::trace, of this rank
    std::vector<std::string> notices;          // one line each: what fell back and why
};

// Whether the configuration goes with the model and the number of ranks, as far as that can be known
// beforehand. Throws SetupError.
void check_run(const Setup& setup, const Config& config, std::uint32_t ranks);

// Collective over the ranks; what the first returns is the result of all. Throws SetupError (2),
// ModelError (3), MachineError (4), InternalError (1). `stop_signal` becomes SIGINT or SIGTERM when the
// user wants an orderly end.
RunResult simulate(Model& model, const Setup& setup, const Config& config, RankGroup& ranks,
                   LiveProgress& progress, const std::atomic<int>& stop_signal);
// In this process alone.
RunResult simulate(Model& model, const Setup& setup, const Config& config, LiveProgress& progress,
                   const std::atomic<int>& stop_signal);

}  // namespace nw
