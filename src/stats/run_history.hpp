// How a run went: totals over time, and where LPs were rolled back. For the statistics, from which
// `jobs/run report` draws its curves.
//
// Samples are taken where the totals are known anyhow: Time Warp at the results of GVT rounds (which
// are sums over all ranks, at one cut), the other engines between two batches of events.
//
// Thread: one; whoever takes the samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <numawarp/time.hpp>

#include "stats/sample_history.hpp"

namespace nw {

// Totals since the run began, over all ranks. committed ≤ executed − rolled_back: the rest is
// ahead of GVT.
struct RunSample {
    double seconds = 0;
    VirtualTime gvt = 0;
    std::uint64_t committed_events = 0;
    std::uint64_t executed_events = 0;
    std::uint64_t rolled_back_events = 0;
    std::uint64_t gvt_rounds = 0;
    std::uint64_t resident_bytes = 0;  // now; 0: nobody looked
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

// What is kept of a run's history when it is saved.
struct SavedHistory {
    std::vector<RunSample> samples;
    double interval_seconds = 0;
};

// A run is in one piece for each process (or set of ranks) that has gone on with it. Totals: where it begins.
struct RunPiece {
    double seconds = 0;
    VirtualTime gvt = 0;
    std::uint64_t committed_events = 0;
    std::uint64_t executed_events = 0;
    std::uint64_t rolled_back_events = 0;
    std::uint64_t gvt_rounds = 0;
    std::uint32_t ranks = 0;
    std::uint32_t workers = 0;  // in each rank

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

    // The event loop begins now. A run that goes on from another has that one's totals and seconds, and
    // what is known of its history.
    void begin(Clock::time_point now, const RunSample& first = {},
               const SavedHistory* earlier = nullptr);

    bool is_due(Clock::time_point now) const noexcept { return now >= next_; }
    // `sample` has what was done since begin(); its seconds are filled in. Requires: begin() was called,
    // or nothing of its time is of interest.
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

// Puts what the run came to behind its samples. What `last` does not know it has from them.
void end_history(std::vector<RunSample>& samples, RunSample last);

// An LP that was rolled back often.
struct RolledBackLp {
    std::uint64_t rolled_back_events = 0;
    std::uint32_t lp = 0;
    std::uint32_t rank = 0;  // and worker: where it is at the end
    std::uint32_t worker = 0;

    template <class Visitor>
    void visit(Visitor&& member) const {
        member("lp", lp);
        member("rank", rank);
        member("worker", worker);
        member("rolled_back_events", rolled_back_events);
    }
};

// The same, as the statistics have it.
struct RolledBackReport {
    RolledBackLp lp;
    std::string name;  // "host 17"

    template <class Visitor>
    void visit(Visitor&& member) const {
        lp.visit(member);
        member("name", name);
    }
};

// Keeps the worst few, worst first.
void keep_worst(std::vector<RolledBackLp>& lps, const RolledBackLp& lp);

}  // namespace nw
