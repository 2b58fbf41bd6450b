// SPDX-License-Identifier: Apache-2.0
// The Time Warp engine on one rank: Rank and Worker in a ThreadedRun, with the network thread, the
// placement of pages, tracks, and groups that move between ranks.

#include "engine/timewarp/timewarp.hpp"

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "engine/checkpoint/saved_run.hpp"
#include "engine/threaded_run.hpp"
#include "engine/timewarp/group_mover.hpp"
#include "engine/timewarp/host_placement.hpp"
#include "engine/timewarp/placement_watch.hpp"
#include "engine/timewarp/rank/rank.hpp"
#include "engine/timewarp/rank_tracks.hpp"
#include "engine/timewarp/worker/executor.hpp"
#include "engine/timewarp/worker/pauses.hpp"
#include "engine/timewarp/worker/worker.hpp"

namespace nw {
namespace {

// --net-thread: a thread that has the net role. It is not bound to a core and yields after each
// step.
class NetThread {
  public:
    explicit NetThread(Rank& rank)
        : rank_(rank), trace_(rank.plan().config.net_thread ? rank.trace_spans_max() : 0) {
        if (rank.plan().config.net_thread)
            thread_ = start_thread<std::jthread>("of --net-thread",
                                                 [this](std::stop_token stop) { run(stop); });
    }

    // Requires: begin() was not called yet, the thread has ended, or another thread holds the
    // network.
    TraceTrack& trace() noexcept { return trace_; }

    // Requires: all groups exist. Other ranks may be ahead and send to these groups already.
    void begin() noexcept { begun_.store(true, std::memory_order_release); }

    void end() {
        thread_.request_stop();
        if (thread_.joinable()) thread_.join();
    }

  private:
    void run(const std::stop_token& stop) {
        TraceTurn turn(trace_);
        rank_.guarded([&] {
            while (!stop.stop_requested()) {
                // Pairs with the release in begin(): the groups are complete.
                if (begun_.load(std::memory_order_acquire)) {
                    const auto now = GvtRounds::Clock::now();
                    turn.begin(now);
                    rank_.net_step(now, turn);
                }
                std::this_thread::yield();
            }
        });
    }

    Rank& rank_;
    TraceTrack trace_;
    std::atomic<bool> begun_{false};
    std::jthread thread_;
};

// The clock of the calling worker's CPU time. PlacementWatch reads the clock until last_sample().
class CpuClock {
  public:
    CpuClock(CpuAssignments& assignments, std::uint32_t worker, bool on)
        : assignments_(assignments), worker_(worker) {
        if (on) assignments.set_clock(worker, clock_of_this_thread());
    }
    ~CpuClock() { assignments_.remove_clock(worker_); }
    CpuClock(const CpuClock&) = delete;
    CpuClock& operator=(const CpuClock&) = delete;

  private:
    CpuAssignments& assignments_;
    std::uint32_t worker_;
};

// A counter of the calling worker's cache misses. PlacementWatch reads the counter by its handle
// until last_sample().
class MissCounter {
  public:
    MissCounter(Os& os, CpuAssignments& assignments, std::uint32_t worker, bool on) : os_(os) {
        if (!on || os.open_counter(HardwareCounter::last_level_misses, handle_) != 0) return;
        is_open_ = true;
        assignments.set_miss_counter(worker, handle_);
    }
    ~MissCounter() {
        if (is_open_) os_.close_counter(handle_);
    }
    MissCounter(const MissCounter&) = delete;
    MissCounter& operator=(const MissCounter&) = delete;

  private:
    Os& os_;
    int handle_ = -1;
    bool is_open_ = false;
};

std::vector<NodeId> nodes_of(const WorkerPlaces& where) {
    std::vector<NodeId> nodes;
    for (const Place& place : where.places) nodes.push_back(place.node);
    return nodes;
}

std::vector<RankTracks::Own> tracks_of(const Workers& workers, Rank& rank, TraceTrack& network) {
    std::vector<RankTracks::Own> tracks;
    for (std::uint32_t w = 0; w < workers.size(); ++w)
        tracks.push_back({fmt::format("worker {}", w), &workers[w]->core().trace});
    tracks.push_back({"GVT rounds", &rank.trace()});
    tracks.push_back({"network", &network});
    return tracks;
}

std::vector<PlacedGroup*> memory_of_groups(Rank& rank) {
    std::vector<PlacedGroup*> memory;
    for (std::uint32_t g = 0; g < rank.plan().partition.groups(); ++g)
        if (Group* group = rank.group(g)) memory.push_back(&group->memory);
    return memory;
}

class TimeWarpRun final : public ThreadedRun<Rank, Worker> {
  public:
    TimeWarpRun(EngineRun& run, Rank& rank, HostPlacement& host)
        : ThreadedRun(run, rank),
          placement_(run.memory, run.plan.config, run.places, host, run.progress,
                     run.result.numa.nodes, run.result.notices),
          net_thread_(rank),
          tracks_(run, tracks_of(workers_, rank, net_thread_.trace())),
          mover_(
              run, rank, workers_, barrier_, [this] { release_groups(); },
              [this] { watch_groups(); }) {
        if (!run.places.pin) return;
        for (std::uint32_t w = 0; w < workers_.size(); ++w)
            rank.assignments().note_moved(w, {run.places.places[w].cpu, run.places.places[w].node});
    }

  private:
    // Each worker builds its own groups, so that their pages are allocated on the worker's node.
    // With --memory libc, which is the baseline of measurements, nodes are ignored unless the user
    // chooses otherwise: worker 0 builds all groups (docs/decisions/0016).
    void build_groups(std::uint32_t w) override {
        const Config& config = run_.plan.config;
        if (const SavedRun* saved = config.restart_from.get()) {
            workers_[w]->lps().read_groups(*saved);
        } else if (config.memory == MemoryMode::numa || config.libc_built_by_owners) {
            workers_[w]->lps().build_groups();
        } else if (w == 0) {
            for (const auto& worker : workers_) worker->lps().build_groups();
        }
    }

    void begin_services() override {
        tracks_.resume();
        net_thread_.begin();
        placement_.begin(memory_of_groups(rank_), rank_.assignments());
    }

    void event_loop(std::uint32_t w) override {
        const MissCounter misses(run_.memory.os(), rank_.assignments(), w,
                                 placement_.wants_misses());
        const CpuClock clock(rank_.assignments(), w, placement_.wants_cpu_times());
        if (w == 0) tracks_.begin();
        ThreadedRun::event_loop(w);
        if (w == 0) {
            guarded([&] { placement_.last_sample(); });
            net_thread_.end();
        }
        barrier_.arrive_and_wait();  // last_sample() no longer reads the groups
    }

    bool shares_cpus() const noexcept override {
        return run_.places.share_cpus || rank_.assignments().crowded();
    }

    Place place_of(std::uint32_t w) const noexcept override {
        return {.cpu = rank_.assignments().cpu_of(w), .node = rank_.assignments().node_of(w)};
    }

    void pause(std::uint32_t w) override {
        if (workers_[w]->pauses().purpose().move) mover_.move(w);
        ThreadedRun::pause(w);
        if (w == 0) rank_.gvt().restart_watchdog(GvtRounds::Clock::now());
    }

    // Called before groups are added and removed. As at the start, LPs' constructors may write to
    // memory that setup() has allocated.
    void release_groups() {
        placement_.release_groups();
        shared_.end();
    }
    void watch_groups() {
        if (run_.plan.config.protect_shared) shared_.begin();
        placement_.watch_groups(memory_of_groups(rank_));
    }

    // Only the rank with the earliest failure prints the failure. A rank that failed for another
    // reason, or before the first event, does not call this function. Instead, it ends the other
    // ranks.
    std::optional<RankId> agree_on_failure() override {
        const auto network = rank_.hold_network();
        std::optional<RankId> failed_rank;
        EventKey earliest{time_infinity, 0, 0, 0};
        const auto all = share_values(run_.ranks, rank_.model_failed_at());
        for (std::size_t r = 0; r < all.size(); ++r) {
            if (!before(all[r], earliest)) continue;
            earliest = all[r];
            failed_rank = RankId{static_cast<std::uint16_t>(r)};
        }
        if (failed_rank) rank_.stop();
        return failed_rank;
    }

    int agreed_signal() const noexcept override {
        return static_cast<int>(rank_.gvt().result().sums.stop);
    }

    std::vector<SavedTrack> save_trace(const std::string& path,
                                       std::uint32_t file_number) override {
        return tracks_.save(path, file_number);
    }

    void add_results() override {
        RunResult& result = run_.result;
        placement_.finish(result.numa, result.notices);
        result.numa.pagemigd.figures.pages_moved += rank_.assignments().pages_fetched();
        for (std::uint32_t w = 0; w < workers_.size(); ++w) {
            Worker& worker = *workers_[w];
            result.messages_left += worker.core().epochs.balance();
            worker.core().add_most_rolled_back_lps(result.most_rolled_back_lps);
            result.numa.memory += worker.memory_kinds();
            if (const int cpu = rank_.assignments().cpu_of(w); cpu >= 0)
                run_.places.places[w] = {cpu, rank_.assignments().node_of(w)};
        }
        tracks_.gather();
    }

    PlacementWatch placement_;
    NetThread net_thread_;
    RankTracks tracks_;
    GroupMover mover_;
};

}  // namespace

void run_timewarp(EngineRun& run) {
    HostPlacement host(run.ranks, *run.plan.config.place, run.places, run.result.notices);
    run_threaded<Rank>(
        run, [&](Rank& rank) { TimeWarpRun(run, rank, host).run(); }, nodes_of(run.places),
        host.assignments());
}

}  // namespace nw
