// What is known of a run when it is over: what reports, statistics and traces are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "base/counters.hpp"
#include "base/digest.hpp"
#include "output/column_kinds.hpp"
#include "stats/numa_report.hpp"
#include "stats/run_history.hpp"
#include "stats/trace.hpp"

namespace nw {

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
    // Events and anti-messages from rank to rank; one row, its own, before the results are gathered.
    std::vector<std::vector<std::uint64_t>> communication;
    std::vector<WorkerReport> workers;
    std::vector<RollbackSpot> rollback_spots;  // the worst LPs, worst first
    std::vector<NamedTrack> trace;             // with Config::trace, of this rank
    std::vector<std::string> notices;          // one line each: what fell back and why
};

}  // namespace nw
