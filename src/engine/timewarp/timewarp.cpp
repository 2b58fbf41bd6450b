// SPDX-License-Identifier: Apache-2.0
// The Time Warp engine on one rank: the worker threads around Rank and Worker, and the end of the
// run.

#include "engine/timewarp/timewarp.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "engine/checkpoint/saved_run.hpp"
#include "engine/engine_run.hpp"
#include "engine/handler_watch.hpp"
#include "engine/run_saver.hpp"
#include "engine/run_turns.hpp"
#include "engine/setup_pump.hpp"
#include "engine/timewarp/group_mover.hpp"
#include "engine/timewarp/host_seats.hpp"
#include "engine/timewarp/placement_watch.hpp"
#include "engine/timewarp/rank/rank.hpp"
#include "engine/timewarp/rank_tracks.hpp"
#include "engine/timewarp/worker/executor.hpp"
#include "engine/timewarp/worker/outboxes.hpp"
#include "engine/timewarp/worker/pauses.hpp"
#include "engine/timewarp/worker/worker.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "engine/worker_start.hpp"
#include "engine/worker_threads.hpp"
#include "memory/region/shared_arena.hpp"
#include "results/statistics/run_history.hpp"
#include "results/statistics/stopwatch.hpp"
#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

void turn_until_still(Rank& rank, Worker& worker, bool share_cpus) {
    run_turns(
        worker, [&] { return worker.finished() || worker.paused() || rank.failed(); },
        [&] { return share_cpus || rank.seats().crowded(); });
}

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

    // Requires: the thread has not begun, has ended, or the network is held.
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
        try {
            while (!stop.stop_requested()) {
                // Pairs with the release in begin(): the groups are complete.
                if (begun_.load(std::memory_order_acquire)) {
                    const auto now = GvtRounds::Clock::now();
                    turn.begin(now);
                    rank_.net_step(now, turn);
                }
                std::this_thread::yield();
            }
        } catch (...) {
            rank_.fail(std::current_exception());
        }
    }

    Rank& rank_;
    TraceTrack trace_;
    std::atomic<bool> begun_{false};
    std::jthread thread_;
};

// A counter of the calling worker's cache misses. PlacementWatch reads it by its handle until
// last_look().
class MissCounter {
  public:
    MissCounter(Os& os, WorkerSeats& seats, std::uint32_t worker, bool on) : os_(os) {
        if (!on || os.open_counter(HardwareCounter::last_level_misses, handle_) != 0) return;
        is_open_ = true;
        seats.set_miss_counter(worker, handle_);
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

// Returns the values of all ranks, by rank.
template <class Value>
std::vector<Value> share_values(RankGroup& ranks, const Value& own) {
    std::string bytes(sizeof own, '\0');
    std::memcpy(bytes.data(), &own, sizeof own);
    std::vector<Value> all;
    for (const std::string& theirs : ranks.share(bytes))
        std::memcpy(&all.emplace_back(), theirs.data(), sizeof own);
    return all;
}

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

std::vector<SavedWorker*> pauses_of(const Workers& workers) {
    std::vector<SavedWorker*> pauses;
    for (const auto& worker : workers) pauses.push_back(&worker->pauses());
    return pauses;
}

std::vector<WatchedThread*> executors_of(const Workers& workers) {
    std::vector<WatchedThread*> executors;
    for (const auto& worker : workers) executors.push_back(&worker->executor());
    return executors;
}

std::vector<PlacedGroup*> memory_of_groups(Rank& rank) {
    std::vector<PlacedGroup*> memory;
    for (std::uint32_t g = 0; g < rank.plan().partition.groups(); ++g)
        if (Group* group = rank.group(g)) memory.push_back(&group->memory);
    return memory;
}

// The workers of one rank, from the start of their threads to the last destructor.
class TimeWarpRun final : private SavedRank {
  public:
    TimeWarpRun(EngineRun& run, Rank& rank, HostSeats& host)
        : run_(run),
          rank_(rank),
          placement_(run.memory, run.plan.config, run.places, host, run.progress,
                     run.result.numa.nodes, run.result.notices),
          net_thread_(rank),
          barrier_(static_cast<std::ptrdiff_t>(run.plan.workers)),
          pump_(run.plan.ranks > 1, [this] { pump(); }),
          tallies_(run.plan.workers),
          workers_(make_workers(rank)),
          tracks_(run, tracks_of(workers_, rank, net_thread_.trace())),
          saver_(run, *this, pauses_of(workers_), barrier_),
          mover_(
              run, rank, workers_, barrier_, [this] { release_groups(); },
              [this] { watch_groups(); }),
          watch_(run.plan, executors_of(workers_), run.progress, run.stop_signal) {}

    void run() {
        execute();
        pump_.end();
        net_thread_.end();
        rethrow_failure();
        run_.paused = std::move(leaving_);
        if (run_.paused != nullptr) {
            give_progress(*run_.paused);
            return;
        }
        placement_.finish(run_.result.numa, run_.result.notices);
        report_end();
        run_.output.finish();
        start_worker(run_.model);  // for on_end() and destructors in this thread
        if (run_.result.reason != EndReason::interrupted) {
            const LiveProgress::Unstoppable phase(run_.progress, in_on_end);
            run_on_end();
        }
        gather_results();
        destroy_lps();  // last, because the results read the LPs
        tracks_.gather();
    }

  private:
    static Workers make_workers(Rank& rank) {
        Workers workers;
        for (std::uint32_t w = 0; w < rank.plan().workers; ++w)
            workers.push_back(std::make_unique<Worker>(rank, WorkerId{w}));
        return workers;
    }

    template <class Step>
    void guarded(Step&& step) {
        try {
            if (!rank_.failed()) step();
        } catch (...) {
            rank_.fail(std::current_exception());
        }
    }

    void execute() {
        run_worker_threads(
            run_.memory.os(), run_.places,
            [&](std::uint32_t w) {
                set_up(w);
                const MissCounter misses(run_.memory.os(), rank_.seats(), w,
                                         placement_.wants_misses());
                event_loop(w);
                meter_phase<MeterPhase::ending>();
                finish(w);
            },
            run_.result.notices);
    }

    // --- Thread: each worker ---

    void set_up(std::uint32_t w) {
        guarded([&] { workers_[w]->executor().adopt_thread(); });
        barrier_.arrive_and_wait();  // a worker's groups may be built by another thread
        guarded([&] { start_worker(run_.model); });
        guarded([&] { make_groups(w); });
        barrier_.arrive_and_wait();  // all groups exist: events may be sent
        if (w == 0 && run_.plan.config.protect_shared) shared_.begin();
        barrier_.arrive_and_wait();  // handlers may run
        if (w == 0) {
            guarded([&] {
                const auto network = rank_.hold_network();
                begin_output(run_);
            });
            guarded([&] { tracks_.resume(); });
            guarded([&] { net_thread_.begin(); });
            guarded([&] { placement_.begin(memory_of_groups(rank_), rank_.seats()); });
        }
        if (w == 0 && !rank_.failed()) has_groups_.store(true, std::memory_order_release);
        if (!run_.plan.config.restart_from && run_.paused == nullptr) start(w);
        barrier_.arrive_and_wait();  // from now on workers or the net thread serve the network
        if (w == 0) pump_.end();
    }

    // If LPs of several workers fail, the rank reports the one with the smallest number. It does
    // not agree with other ranks on a failure, because their set-up may take long.
    void start(std::uint32_t w) {
        guarded([&] {
            try {
                workers_[w]->lps().start();
            } catch (const ModelError& error) {
                rank_.fail_in_model({.sender = workers_[w]->core().running.lp->id}, error.what());
            }
        });
        barrier_.arrive_and_wait();  // all LPs were started, or one has failed
        if (rank_.model_failed()) rank_.stop();
    }

    // Groups are about to be added and removed. LPs' constructors may write to memory that setup()
    // allocated, as at the start.
    void release_groups() {
        placement_.release_groups();
        shared_.end();
    }
    void watch_groups() {
        if (run_.plan.config.protect_shared) shared_.begin();
        placement_.watch_groups(memory_of_groups(rank_));
    }

    // Thread: the pump.
    void pump() noexcept {
        try {
            TraceTrack none(0);
            TraceTurn turn(none);
            // Pairs with the release in set_up(): the groups are complete.
            if (has_groups_.load(std::memory_order_acquire))
                rank_.net_step(GvtRounds::Clock::now(), turn);
            else
                rank_.receive_early();
        } catch (...) {
            rank_.fail(std::current_exception());
        }
    }

    // Each worker builds its own groups, so that their pages are allocated on its node. The
    // baseline ignores nodes: one thread builds all groups (docs/decisions/0016).
    void make_groups(std::uint32_t w) {
        if (run_.paused != nullptr) {
            workers_[w]->lps().continue_from(*run_.paused);
        } else if (const SavedRun* saved = run_.plan.config.restart_from.get()) {
            workers_[w]->lps().read_groups(*saved);
        } else if (run_.plan.config.memory == MemoryMode::numa) {
            workers_[w]->lps().build_groups();
        } else if (w == 0) {
            for (const auto& worker : workers_) worker->lps().build_groups();
        }
    }

    void event_loop(std::uint32_t w) {
        Worker& worker = *workers_[w];
        const ThreadCounters counters(run_.memory.os(), run_.plan.config.hardware_counters);
        const Stopwatch stopwatch;
        // Guarded, because the other workers wait at the barriers below.
        if (w == 0)
            guarded([&] {
                loop_ = begin_progress(run_, rank_.history());
                tracks_.begin();
                saver_.begin(loop_);
            });
        for (;;) {
            guarded([&] { turn_until_still(rank_, worker, run_.places.share_cpus); });
            barrier_.arrive_and_wait();  // no worker is executing
            if (w == 0) {
                guarded([&] { agree_on_failure(); });
                is_pause_ = worker.paused() && !rank_.failed();
            }
            barrier_.arrive_and_wait();
            if (!is_pause_) break;
            pause(w);
            if (leaving_ != nullptr) break;
        }
        if (w == 0) run_.result.wall_seconds = loop_.wall_seconds();
        tallies_[w].busy_seconds = stopwatch.thread_cpu_seconds();
        tallies_[w].asleep_seconds = worker.core().asleep_seconds;
        tallies_[w].hardware = counters.counts();
        if (run_.paused != nullptr) tallies_[w].add_times(run_.paused->workers[w].tally);
    }

    void pause(std::uint32_t w) {
        Worker& worker = *workers_[w];
        const Standstill::Purpose purpose = worker.standstill().purpose();
        std::unique_lock<SpinLock> network;
        if (w == 0) network = rank_.hold_network();
        barrier_.arrive_and_wait();
        if (purpose.move) mover_.move(w);
        if (purpose.save) {
            saver_.save(w);  // the request to leave, if there is one, remains
        } else if (purpose.leave) {
            if (w == 0) guarded([&] { prepare_to_leave(); });
            barrier_.arrive_and_wait();
        } else {
            worker.pauses().resume();
        }
        if (w == 0) rank_.gvt().restart_watchdog(GvtRounds::Clock::now());
    }

    void finish(std::uint32_t w) {
        if (w == 0) guarded([&] { placement_.last_look(); });
        barrier_.arrive_and_wait();  // last_look() no longer reads the groups
        guarded([&] {
            if (leaving_ != nullptr)
                leave(w);
            else
                workers_[w]->finalize();
        });
        workers_[w]->executor().leave_thread();
    }

    void prepare_to_leave() {
        NW_CHECK(!rank_.gvt().is_under_way());
        leaving_ = std::make_unique<PausedRun>(run_.plan);
    }

    void leave(std::uint32_t w) {
        leaving_->workers[w].tally = tallies_[w];
        workers_[w]->pauses().leave_to(*leaving_);
    }

    // --- Failures of the model ---

    // Called on all ranks when their workers have stopped. Only the rank with the earliest failure
    // prints it. A rank that failed for another reason, or before the first event, does not call
    // this function: it ends the other ranks. Thread: worker 0, while no worker executes.
    void agree_on_failure() {
        const auto network = rank_.hold_network();
        const EventKey own = rank_.model_failed_at();
        EventKey earliest{time_infinity, 0, 0, 0};
        const auto all = share_values(run_.ranks, own);
        for (std::size_t r = 0; r < all.size(); ++r) {
            if (!before(all[r], earliest)) continue;
            earliest = all[r];
            failed_rank_ = RankId{static_cast<std::uint16_t>(r)};
        }
        if (failed_rank_) rank_.stop();
    }

    void rethrow_failure() {
        // Another rank has the earliest failure. It prints the failure and ends all ranks.
        if (failed_rank_ && *failed_rank_ != rank_.id()) run_.ranks.share({});
        rank_.rethrow_failure();
    }

    // --- Saving ---

    bool cannot_go_on() const noexcept override { return rank_.failed(); }
    void fail_now() noexcept override { rank_.fail(std::current_exception()); }
    int signal_to_end() const noexcept override {
        return std::max(static_cast<int>(rank_.gvt().result().sums.stop), rank_.stop_signal());
    }
    const RunHistory& history() const noexcept override { return rank_.history(); }
    std::vector<SavedTrack> save_trace(const std::string& path,
                                       std::uint32_t file_number) override {
        return tracks_.save(path, file_number);
    }

    // --- Thread: the main thread, after the worker threads have ended ---

    void report_end() {
        RunResult& result = run_.result;
        result.reason = workers_[0]->ending().reason();
        // If the run was saved, RunSaver has set the signal.
        if (result.reason == EndReason::interrupted && !run_.plan.config.save.on())
            result.signal = static_cast<int>(rank_.gvt().result().sums.stop);
        result.end_time = workers_[0]->ending().time();
        if (workers_[0]->ending().splits_time()) note_split_time(result);
        if (result.end_time != time_infinity) return;
        result.end_time = 0;
        for (const auto& worker : workers_)
            result.end_time = std::max(result.end_time, worker->committer().last_committed_time());
        const std::vector<VirtualTime> times = share_values(run_.ranks, result.end_time);
        result.end_time = *std::max_element(times.begin(), times.end());
    }

    void run_on_end() {
        for (const auto& worker : workers_)
            if (worker->core().intervals != nullptr)
                run_.result.measures.intervals() += *worker->core().intervals;
        AdoptedThread<Executor> thread;
        for (std::uint32_t lp = 0; lp < run_.plan.rules.lps; ++lp) {
            const Partition::Owner owner = rank_.owner(run_.plan.partition.position(lp).group);
            if (owner.rank != index(rank_.id())) continue;
            Worker& worker = *workers_[owner.worker];
            thread.adopt(worker.executor());
            worker.lps().run_on_end(worker.core().lp(lp), run_.result.end_time,
                                    run_.result.measures);
        }
    }

    // Completes the progress that the workers give to another engine.
    void give_progress(PausedRun& paused) {
        paused.gvt = workers_[0]->standstill().bound().time;
        paused.history = std::move(rank_.history());
        paused.loop = loop_;
        for (const auto& worker : workers_)
            worker->outboxes().add_sent_to(sent_by_rank(run_.result, run_.ranks.ranks()));
    }

    void gather_results() {
        RunResult& result = run_.result;
        result.segments_bytes = run_.memory.segment_bytes();
        result.history = rank_.history().samples();
        for (std::uint32_t w = 0; w < workers_.size(); ++w) {
            Worker& worker = *workers_[w];
            WorkerCore& core = worker.core();
            result.messages_left += core.epochs.balance();
            report_lps(result, core.groups);
            worker.outboxes().add_sent_to(sent_by_rank(result, run_.ranks.ranks()));
            core.add_most_rolled_back_lps(result.most_rolled_back_lps);
            result.numa.memory += worker.memory_kinds();
            tallies_[w].counters = core.counters;
            tallies_[w].figures = core.figures;
            tallies_[w].groups = &core.groups;
            if (const int cpu = rank_.seats().cpu_of(w); cpu >= 0)
                run_.places.places[w] = {cpu, rank_.seats().node_of(w)};
            report_worker(result, run_.places, w, tallies_[w]);
        }
        result.numa.pagemigd.figures.pages_moved += rank_.seats().pages_fetched();
    }

    void destroy_lps() {
        shared_.end();
        for (const auto& worker : workers_) {
            const AdoptedThread adopted(worker->executor());
            worker->lps().destroy(run_.stop_signal);
        }
    }

    EngineRun& run_;
    Rank& rank_;
    SharedArena::ReadOnly shared_;  // read-only until the first destructor of an LP
    PlacementWatch placement_;
    NetThread net_thread_;
    std::barrier<> barrier_;
    std::atomic<bool> has_groups_{false};
    SetupPump pump_;
    std::vector<WorkerTally> tallies_;
    Workers workers_;
    RankTracks tracks_;
    RunSaver saver_;
    GroupMover mover_;
    HandlerWatch watch_;
    bool is_pause_ = false;               // written by worker 0, between two barriers
    std::optional<RankId> failed_rank_;   // as is_pause_; has the earliest failure of the model
    Stopwatch loop_;                      // began with the event loop of the run's first engine
    std::unique_ptr<PausedRun> leaving_;  // as is_pause_; for the engine that continues the run
};

}  // namespace

void run_timewarp(EngineRun& run) {
    const std::unique_ptr<Transport> transport = run.ranks.open_transport(
        sizeof(WireEvent) + WireEvent::padded(run.plan.rules.payload_bytes_max));
    HostSeats host(run.ranks, *run.plan.config.place, run.places, run.result.notices);
    std::optional<Rank> rank;
    try {
        rank.emplace(run.plan, *transport, run.memory, run.output, run.progress, run.stop_signal,
                     nodes_of(run.places), host.seats());
        rank->set_trial(run.trial);
        TimeWarpRun(run, *rank, host).run();
    } catch (...) {
        if (run.ranks.ranks() > 1 && run.progress.failed) run.progress.failed();
        throw;
    }
}

}  // namespace nw
