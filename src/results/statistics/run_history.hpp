// SPDX-License-Identifier: Apache-2.0
// The course of a run: totals over time, and the LPs that were rolled back most often. Part of the
// statistics; `jobs/run report` draws its curves from these samples.
//
// Samples are taken where the totals are known anyway: Time Warp takes them at the results of GVT
// rounds (sums over all ranks at one cut), the other engines between two batches of events.
//
// Thread: one, the thread that takes the samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <numawarp/time.hpp>

#include "results/statistics/sample_history.hpp"

namespace nw {

// Totals since the start of the run, over all ranks. committed ≤ executed − rolled_back; the
// difference is the number of uncommitted events beyond GVT.
struct RunSample {
    double seconds = 0;
    VirtualTime gvt = 0;
    std::uint64_t committed_events = 0;
    std::uint64_t executed_events = 0;
    std::uint64_t rolled_back_events = 0;
    std::uint64_t gvt_rounds = 0;
    std::uint64_t resident_bytes = 0;  // at this moment; 0: not measured
    VirtualTime window = time_infinity;

    template <class Visitor>
    void visit(Visitor&& member) const {
        member("seconds", seconds);
        member("gvt", gvt);
        member("committed_events", committed_events);
        member("executed_events", executed_events);
        member("rolled_back_events", rolled_back_events);
        member("gvt_rounds", gvt_rounds);
        member("resident_bytes", resident_bytes);
        member("window", window);
    }
};

// The part of a run's history that a checkpoint contains.
struct SavedHistory {
    std::vector<RunSample> samples;
    double interval_seconds = 0;
};

// A piece of a run: the part that one process (or set of ranks) has executed; each restart begins a
// new piece. The totals are those at the beginning of the piece.
struct RunPiece {
    double seconds = 0;
    VirtualTime gvt = 0;
    std::uint64_t committed_events = 0;
    std::uint64_t executed_events = 0;
    std::uint64_t rolled_back_events = 0;
    std::uint64_t gvt_rounds = 0;
    std::uint32_t ranks = 0;
    std::uint32_t workers = 0;  // per rank

    template <class Visitor>
    void visit(Visitor&& member) const {
        member("seconds", seconds);
        member("gvt", gvt);
        member("committed_events", committed_events);
        member("executed_events", executed_events);
        member("rolled_back_events", rolled_back_events);
        member("gvt_rounds", gvt_rounds);
        member("ranks", ranks);
        member("workers", workers);
    }
};

class RunHistory {
  public:
    using Clock = std::chrono::steady_clock;

    // Starts the clock at the start of the event loop. If the run continues an earlier run, `first`
    // contains the totals and seconds of the earlier run, and `earlier` contains its history.
    void begin(Clock::time_point now, const RunSample& first = {},
               const SavedHistory* earlier = nullptr);

    bool is_due(Clock::time_point now) const noexcept { return now >= next_; }
    // `sample` contains the totals since begin(). add() adds the totals of `first`, and sets the
    // seconds. Requires: begin() was called, if the times of the samples are used.
    void add(Clock::time_point now, RunSample sample);

    const std::vector<RunSample>& samples() const noexcept { return samples_.samples(); }
    SavedHistory saved() const { return {samples(), samples_.interval_seconds()}; }

  private:
    void keep(Clock::time_point now, const RunSample& sample);

    Clock::time_point start_{};
    Clock::time_point next_{};
    RunSample first_;
    SampleHistory<RunSample> samples_{0.1};
};

// Appends the final totals to the samples. The memory and the window, which `last` does not
// contain, are copied from the last sample.
void end_history(std::vector<RunSample>& samples, RunSample last);

// An LP that was rolled back often, and the worker that owns it at the end.
struct RolledBackLp {
    std::uint64_t rolled_back_events = 0;
    std::uint32_t lp = 0;
    std::uint32_t rank = 0;
    std::uint32_t worker = 0;

    template <class Visitor>
    void visit(Visitor&& member) const {
        member("lp", lp);
        member("rank", rank);
        member("worker", worker);
        member("rolled_back_events", rolled_back_events);
    }
};

// An LP as it appears in the statistics.
struct RolledBackReport {
    RolledBackLp lp;
    std::string name;  // "host 17"

    template <class Visitor>
    void visit(Visitor&& member) const {
        lp.visit(member);
        member("name", name);
    }
};

// Inserts the LP. The list keeps the 16 LPs with the most rolled-back events, in descending order.
void keep_worst(std::vector<RolledBackLp>& lps, const RolledBackLp& lp);

}  // namespace nw
