// SPDX-License-Identifier: Apache-2.0
// The results of a run, and the only description of its figures. Visitors of this description
// exchange the figures between ranks, and write the statistics, their page in docs/reference and
// the list of --verbose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "plan/config.hpp"
#include "results/measures/measure_sums.hpp"
#include "results/output/column_kinds.hpp"
#include "results/statistics/figure.hpp"
#include "results/statistics/hardware_figures.hpp"
#include "results/statistics/numa_report.hpp"
#include "results/statistics/run_history.hpp"
#include "results/statistics/trace.hpp"
#include "results/statistics/worker_figures.hpp"
#include "util/counters.hpp"
#include "util/digest.hpp"

namespace nw {

struct WorkerReport {
    std::uint32_t rank = 0;
    Counters counters;
    double busy_seconds = 0;    // CPU time of the worker's thread
    double asleep_seconds = 0;  // time in which the thread slept, because its workers had no work
    int core = -1;              // -1: not pinned
    int node = -1;
    std::uint64_t lps = 0;
    std::uint64_t groups = 0;

    template <class Visitor>
    void visit(Visitor&& member) const {
        const auto if_pinned = [](int number) {
            return number < 0 ? std::nullopt : std::optional(number);
        };
        member("rank", rank);
        member("core", if_pinned(core));
        member("node", if_pinned(node));
        member("lps", lps);
        member("groups", groups);
        member("busy_seconds", busy_seconds);
        member("asleep_seconds", asleep_seconds);
    }
};

// The checkpoints of a run (--checkpoint), and the checkpoint that it has continued (--restart).
struct SavingReport {
    std::uint64_t written = 0;                // number of checkpoints
    std::uint64_t bytes = 0;                  // of the last checkpoint, on all ranks
    double seconds = 0;                       // total time in which no worker executed events
    std::optional<VirtualTime> saved_at;      // GVT of the last checkpoint
    std::optional<VirtualTime> restarted_at;  // GVT of the checkpoint of --restart
    std::vector<RunPiece> pieces;             // the last one belongs to this process
};

// The moves of groups between ranks.
struct BalanceReport {
    std::uint64_t pauses = 0;
    double seconds = 0;  // total time in which no worker executed events
};

// Events of one type at LPs of one kind, and their figures (since a --restart).
struct EventReport {
    std::string kind;
    std::string event;
    std::optional<EventType> type;  // empty: all types that the kind does not declare
    EventFigures figures;

    template <class Visitor>
    void visit(Visitor&& member) const {
        const auto share = [](std::uint64_t part, std::uint64_t whole) {
            return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole))
                             : std::nullopt;
        };
        member("kind", kind);
        member("event", event);
        member("type", type);
        member("committed_events", figures.committed);
        member("rolled_back_events", figures.rolled_back);
        member("rolled_back_share",
               share(figures.rolled_back, figures.committed + figures.rolled_back));
        member("mean_ns", share(figures.nanoseconds, figures.timed));
    }
};

// The LPs of one kind.
struct KindReport {
    std::string kind;
    std::uint32_t lps = 0;
    Rollback rollback{};
    std::uint64_t committed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t state_bytes = 0;

    template <class Visitor>
    void visit(Visitor&& member) const {
        member("kind", kind);
        member("lps", lps);
        member("rollback", rollback);
        member("committed_events", committed);
        member("rolled_back_events", rolled_back);
        member("state_bytes", state_bytes);
    }
};

enum class EndReason : std::uint8_t { until, no_events, all_can_end, interrupted };

// The end of a run, as one worker has received it.
struct RunEnd {
    EndReason reason;
    VirtualTime time;         // time that the run has reached; infinity: time of the last event
    bool splits_time;         // a signal has ended the run between two events of this time
    VirtualTime last_commit;  // time of the last event that this worker has committed
};

struct RunResult {
    Digest digest;
    EngineKind engine = EngineKind::timewarp;  // the engine that executed the end of the run
    std::string engine_reason;                 // why --engine auto has chosen `engine`; else empty
    std::uint32_t engine_changes = 0;
    EndReason reason = EndReason::until;
    int signal = 0;            // with EndReason::interrupted: the received signal
    VirtualTime until = 0;     // the requested end time
    VirtualTime end_time = 0;  // final GVT, at most `until`
    Rollback rollback{};
    bool commits_late = false;  // no event is safe: RunPlan::commits_late()
    std::uint32_t ranks = 1;
    std::uint32_t lps = 0;
    std::uint32_t groups = 0;
    std::uint32_t lps_per_group = 0;
    std::uint32_t nodes = 1;
    double wall_seconds = 0;         // the event loop of the whole run
    double wall_seconds_before = 0;  // the part of earlier processes (--restart)
    double setup_seconds = 0;
    std::uint64_t resident_peak_bytes = 0;
    std::uint64_t segments_bytes = 0;
    NumaReport numa;
    SavingReport saving;             // on the first rank
    BalanceReport balance;           // on the first rank
    std::int64_t messages_left = 0;  // sent minus received, of this rank; 0 in total
    MeasureSums measures;            // on the first rank, of all ranks; no values if interrupted
    ColumnKinds column_kinds;        // of the output tables; on the first rank
    Counters totals;                 // of the whole run, also of earlier processes
    WorkerFigures of_workers;        // sum over the workers of this process
    HardwareCounts hardware;         // of this process's event loops (--hardware-counters)
    std::vector<RunSample> history;  // over all ranks; the first rank takes the samples
    // Events and anti-messages from rank to rank. Until the results are gathered, there is only the
    // row of this rank. Empty if the run has one rank.
    std::vector<std::vector<std::uint64_t>> communication;
    // Empty if the model has neither kinds of LPs nor declared events.
    std::vector<EventReport> event_types;
    std::vector<KindReport> kinds;  // empty if the model has no kinds of LPs
    std::vector<std::uint64_t> state_bytes_by_kind;
    std::vector<WorkerReport> workers;
    std::vector<RolledBackLp> most_rolled_back_lps;  // in descending order
    std::vector<RolledBackReport> most_rolled_back;  // the same LPs
    std::vector<NamedTrack> trace;                   // with Config::trace: the tracks of this rank
    std::vector<std::string> notices;                // one line each: fallbacks and their reasons
};

// Adds a notice. Requires: the run was interrupted, and some of the events at its end time are
// final and others are not.
inline void note_split_time(RunResult& result) {
    result.notices.push_back(
        "the run was stopped before all events of one virtual time were executed; its digest "
        "differs from that of any other run (possible cause: an endless chain of events with zero "
        "delay)");
}

// Visits each figure of a result: visit(FigureInfo or Unlisted, how ranks combine it, the figure).
// The statistics contain further values, which are computed from several figures or from options
// (app/report/statistics.cpp).
template <class Visitor, class Result>
void visit_figures(Visitor&& visit, Result& result) {
    using namespace combine;
    constexpr Unlisted unlisted{};

    visit(FigureInfo{"ranks", "ranks", "", "operating-system processes of the run"}, First{},
          result.ranks);
    visit(FigureInfo{"lps", "LPs", "", "logical processes"}, First{}, result.lps);
    visit(FigureInfo{"groups", "groups", "", "groups of LPs that share pages and move together"},
          First{}, result.groups);
    visit(FigureInfo{"until", "virtual time", "", "the requested end time; null: none"}, First{},
          result.until);
    visit(FigureInfo{"gvt", "virtual time", "",
                     "the final global virtual time: every event before it is committed"},
          First{}, result.end_time);
    visit(FigureInfo{"end_reason", "text", "", "until, no_events, all_can_end or interrupted"},
          First{}, result.reason);
    visit(FigureInfo{"wall_seconds", "seconds", "", "wall time of the event loop, without set-up"},
          Most{}, result.wall_seconds);
    visit(FigureInfo{"setup_seconds", "seconds", "",
                     "wall time from the start of set-up to the first event"},
          Most{}, result.setup_seconds);
    visit(FigureInfo{"digest", "32 hex digits", "",
                     "hash over all committed events; equal for equal model, seed and end time"},
          Sum{}, result.digest);
    visit(unlisted, Sum{}, result.messages_left);

    visit(
        FigureInfo{
            "measures", "object", "",
            "the model's figures of merit by name, each with kind, lps (number of LPs that have "
            "the figure), count (of values; for a time average, of changes), mean (for a count, "
            "over the LPs), deviation, min, max, quantiles (p50, p90, p95, p99 and their largest "
            "relative error; null: none), and for a histogram low, high and bins (the first and "
            "the last bin have the values below low and above high); with --measure-interval also "
            "intervals, an array with from, to, count, mean, deviation, quantiles and bins of the "
            "values recorded in each interval. Empty: no measures, or the run was interrupted"},
        First{}, result.measures);
    for (std::size_t i = 0; i < counter_count; ++i)
        visit(counter_table[i], Sum{}, result.totals[Counter{i}]);
    visit_worker_figures(visit, result.of_workers);
    visit(unlisted, Append{}, result.workers);
    for (std::size_t i = 0; i < hardware_counter_count; ++i)
        visit(hardware_table[i], SumOfAll{}, result.hardware.counts[i]);

    visit(FigureInfo{"resident_peak_bytes", "bytes", "memory",
                     "peak of the resident memory of each process, summed over the ranks"},
          Sum{}, result.resident_peak_bytes);
    visit(FigureInfo{"segments_bytes", "bytes", "memory",
                     "address space that the LPs' segments take at the end"},
          Sum{}, result.segments_bytes);
    visit(
        FigureInfo{
            "by_kind", "object", "memory",
            "bytes of state, events, history, snapshots, bottom_halves and mail_rings: for each "
            "worker at the time when their sum was largest (sampled every 100 ms), summed "
            "over the workers; Time Warp only"},
        Sum{}, result.numa.memory);

    visit(FigureInfo{"nodes", "nodes", "numa", "NUMA nodes whose cores this process may use"},
          First{}, result.nodes);
    visit(unlisted, Sum{}, result.numa.placement);
    visit(
        FigureInfo{"pages_shared", "pages", "numa",
                   "pages that belong to more than one group, in all segments; null: not measured"},
        Sum{}, result.numa.pages_shared);
    visit(FigureInfo{"placed", "text", "numa",
                     "a text on what --place used for its decision and what it did; empty with "
                     "--place local"},
          Once{}, result.numa.placed);
    auto& migration = result.numa.pagemigd.figures;
    visit(FigureInfo{"pages_moved", "pages", "numa", "pages that the daemon moved to another node"},
          Sum{}, migration.pages_moved);
    visit(FigureInfo{"pages_busy", "pages", "numa",
                     "moves that the kernel postponed; they are tried again one period later"},
          Sum{}, migration.pages_busy);
    visit(FigureInfo{"pages_no_room", "pages", "numa",
                     "moves that failed because the target node was full"},
          Sum{}, migration.pages_no_room);
    visit(FigureInfo{"pages_failed", "pages", "numa",
                     "moves that the kernel refused for other reasons"},
          Sum{}, migration.pages_failed);
    visit(unlisted, Sum{}, migration.groups_served);
    visit(unlisted, Sum{}, migration.passes);
    visit(unlisted, Sum{}, migration.busy_ns);
    visit(FigureInfo{"placement_history", "array", "numa",
                     "samples during the run, at most 1,000, the last one at the end, each with "
                     "seconds (of the event loop), groups_moved, pages_moved and passes of the "
                     "daemon so far, and remote_page_share"},
          First{}, result.numa.history);

    visit(FigureInfo{"history", "array", "",
                     "samples during the run, at most 1,001, the last one at the end, each with "
                     "seconds (of the event loop), gvt, committed_events, executed_events, "
                     "rolled_back_events and gvt_rounds so far, resident_bytes (of all ranks; 0: "
                     "not measured) and window (beyond gvt; null: none)"},
          First{}, result.history);
    visit(unlisted, Sum{}, result.most_rolled_back_lps);
    visit(FigureInfo{"most_rolled_back_lps", "array", "",
                     "the 16 LPs with the most rolled_back_events, in descending order, each with "
                     "lp, rank and worker (at the end), rolled_back_events and name (by its kind)"},
          First{}, result.most_rolled_back);
    visit(unlisted, Sum{}, result.state_bytes_by_kind);
    visit(FigureInfo{"kinds", "array", "",
                     "the kinds of LPs (nw::kinds), each with kind, lps, rollback, "
                     "committed_events, rolled_back_events and state_bytes (in blocks of its LPs' "
                     "heaps at the end); empty if the model has no kinds"},
          First{}, result.kinds);
    visit(
        FigureInfo{
            "event_types", "array", "",
            "events by the kind of their LPs and by type, each with kind, event (its name), type "
            "(its number; null: all types that the kind does not declare), committed_events, "
            "rolled_back_events, rolled_back_share (of the sum of both) and mean_ns (mean wall "
            "time of an execution and of the state saving before it; one execution in 61 is timed; "
            "null: none was timed); empty if the model neither declares event types nor has kinds"},
        First{}, result.event_types);
    visit(FigureInfo{"communication", "array", "",
                     "events and anti-messages sent from rank (row) to rank (column); empty with "
                     "one rank"},
          Append{}, result.communication);

    visit(FigureInfo{"balance_pauses", "pauses", "mpi",
                     "pauses of all ranks to balance their loads (--rebind-ranks)"},
          First{}, result.balance.pauses);
    visit(FigureInfo{"balance_seconds", "seconds", "mpi",
                     "total time of these pauses, in which groups are packed, sent and unpacked"},
          First{}, result.balance.seconds);

    auto& saving = result.saving;
    visit(FigureInfo{"written", "checkpoints", "checkpoints",
                     "checkpoints of the whole run (--checkpoint)"},
          First{}, saving.written);
    visit(
        FigureInfo{"bytes", "bytes", "checkpoints", "size of the last checkpoint, over all ranks"},
        First{}, saving.bytes);
    visit(FigureInfo{"seconds", "seconds", "checkpoints",
                     "time during which no worker executed events because of checkpoints"},
          First{}, saving.seconds);
    visit(FigureInfo{"restarted_at", "virtual time", "checkpoints",
                     "virtual time at which this process continued the run (--restart); null: it "
                     "started the run. Counters, wall_seconds and history are of the whole run; "
                     "workers_detail and similar figures are of this process"},
          First{}, saving.restarted_at);
    visit(
        FigureInfo{
            "pieces", "array", "checkpoints",
            "one for each process, or set of ranks, that has executed a part of the run, the last "
            "one for this process: seconds, gvt, committed_events, executed_events, "
            "rolled_back_events and gvt_rounds of the whole run at the beginning of the part, and "
            "the ranks and workers of the part"},
        First{}, saving.pieces);
    visit(FigureInfo{"notices", "array of texts", "", "fallbacks and their reasons"}, Once{},
          result.notices);
}

}  // namespace nw
