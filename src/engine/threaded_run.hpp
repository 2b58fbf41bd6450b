// SPDX-License-Identifier: Apache-2.0
// One rank's run of an engine with worker threads, from the start of the threads to the last
// destructor of an LP. TimeWarpRun and ConservativeRun derive from this class. They contain the
// differences between the engines: how groups are built, how ranks agree on a failure of the model,
// and services such as the placement of pages.
//
//     worker threads   build groups, start LPs; turns and pauses, until the run ends
//     main thread      on_end(), results, destructors
//
// Template parameters: Rank derives from ThreadedRank, and Worker has a function turn().
// Worker::executor() returns the object that runs handlers (a WatchedThread), Worker::lps() the
// object that builds and ends the worker's LPs, and Worker::pauses() the SavedWorker.
// timewarp/worker/worker.hpp describes the functions.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/engine_run.hpp"
#include "engine/handler_watch.hpp"
#include "engine/run_saver.hpp"
#include "engine/setup_pump.hpp"
#include "engine/turn_loop.hpp"
#include "engine/worker_start.hpp"
#include "event/wire_event.hpp"
#include "memory/region/shared_arena.hpp"
#include "results/statistics/run_result.hpp"
#include "results/statistics/stopwatch.hpp"
#include "util/check.hpp"
#include "util/locks.hpp"
#include "util/meter_marks.hpp"

namespace nw {

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

template <class Rank, class Worker>
class ThreadedRun : protected SavedRank {
  public:
    ThreadedRun(EngineRun& run, Rank& rank)
        : run_(run),
          rank_(rank),
          workers_(make_workers(rank)),
          tallies_(run.plan.workers),
          barrier_(static_cast<std::ptrdiff_t>(run.plan.workers)),
          cpus_(static_cast<std::uint32_t>(
              std::max<std::size_t>(1, run.memory.os().thread_cpus().size()))),
          pump_(run.plan.ranks > 1, [this] { pump(); }),
          saver_(run, *this, saved_workers(workers_), barrier_),
          watch_(run.plan, watched_threads(workers_), run.progress, run.stop_signal) {}

    void run() {
        run_worker_threads(
            run_.memory.os(), run_.places, [this](std::uint32_t w) { work(w); },
            run_.result.notices);
        rethrow_failure();
        run_.paused = std::move(leaving_);
        if (run_.paused != nullptr) {
            give_progress(*run_.paused);
            return;
        }
        report_end();
        run_.output.finish();
        start_worker(run_.model);  // for on_end() and destructors in this thread
        if (run_.result.reason != EndReason::interrupted) {
            const LiveProgress::Unstoppable phase(run_.progress, in_on_end);
            run_on_end();
        }
        add_results();
        gather_results();
        destroy_lps();  // last, because the results read the LPs
    }

  protected:
    ~ThreadedRun() = default;

    // --- The differences between the engines ---

    // Builds the groups at the beginning of a run, or reads them on a restart. Each worker builds
    // its own groups, or worker 0 builds the groups of all workers. Thread: each worker.
    virtual void build_groups(std::uint32_t w) = 0;
    // Called when all groups exist and handlers may run. Thread: worker 0.
    virtual void begin_services() {}
    // Takes turns and pauses until the run ends. Thread: each worker.
    virtual void event_loop(std::uint32_t w);
    // Returns whether other threads of the run use the CPUs of the threads that take turns. Called
    // after each turn without work.
    virtual bool shares_cpus() const noexcept { return run_.places.share_cpus; }
    // Returns the present CPU of a worker, and the node of this CPU.
    virtual Place place_of(std::uint32_t w) const noexcept { return run_.places.places[w]; }
    // Returns the rank with the earliest failure of the model. All ranks get the same result.
    // Collective. Thread: worker 0, when all workers have left their turns.
    virtual std::optional<RankId> agree_on_failure() = 0;
    // Performs one pause: saves the run, sets `leaving_`, or only lets the worker continue. Thread:
    // each worker, when all workers are paused. Worker 0 holds the network.
    virtual void pause(std::uint32_t w);
    // The signal for which all ranks have stopped or paused; 0: none.
    virtual int agreed_signal() const noexcept = 0;
    // Adds the results of the engine's services. Collective. Thread: main.
    virtual void add_results() = 0;

    // --- Thread: each worker ---

    template <class Step>
    void guarded(Step&& step) noexcept {
        rank_.guarded(step);
    }

    EngineRun& run_;
    Rank& rank_;
    std::vector<std::unique_ptr<Worker>> workers_;
    SharedArena::ReadOnly shared_;  // read-only until the first destructor of an LP
    std::vector<WorkerTally> tallies_;
    std::barrier<> barrier_;

  private:
    // The rules of the workers' TurnLoop.
    struct TurnRules {
        bool is_over(std::uint32_t w) const noexcept {
            const Worker& worker = *run.workers_[w];
            return worker.finished() || worker.paused() || run.rank_.failed();
        }
        bool shares_cpus() const noexcept { return run.shares_cpus(); }
        std::uint32_t carrier(std::uint32_t w) const noexcept { return run.carrier(w); }
        const ThreadedRun& run;
    };

    using Executor = std::remove_reference_t<decltype(std::declval<Worker&>().executor())>;

    static std::vector<std::unique_ptr<Worker>> make_workers(Rank& rank) {
        std::vector<std::unique_ptr<Worker>> workers;
        for (std::uint32_t w = 0; w < rank.plan().workers; ++w)
            workers.push_back(std::make_unique<Worker>(rank, WorkerId{w}));
        return workers;
    }

    static std::vector<SavedWorker*> saved_workers(
        const std::vector<std::unique_ptr<Worker>>& workers) {
        std::vector<SavedWorker*> saved;
        for (const auto& worker : workers) saved.push_back(&worker->pauses());
        return saved;
    }

    static std::vector<WatchedThread*> watched_threads(
        const std::vector<std::unique_ptr<Worker>>& workers) {
        std::vector<WatchedThread*> threads;
        for (const auto& worker : workers) threads.push_back(&worker->executor());
        return threads;
    }

    std::uint32_t carrier(std::uint32_t w) const noexcept;

    void work(std::uint32_t w) {
        AdoptedThread<Executor> adopted;
        guarded([&] { adopted.adopt(workers_[w]->executor()); });
        set_up(w);
        event_loop(w);
        meter_phase<MeterPhase::ending>();
        guarded([&] {
            if (leaving_ != nullptr)
                leave(w);
            else
                workers_[w]->finalize();
        });
    }

    void set_up(std::uint32_t w) {
        barrier_.arrive_and_wait();  // a worker's groups may be built by another thread
        guarded([&] { start_worker(run_.model); });
        guarded([&] {
            if (run_.paused != nullptr)
                workers_[w]->lps().continue_from(*run_.paused);
            else
                build_groups(w);
        });
        barrier_.arrive_and_wait();  // all groups exist: events may be sent
        if (w == 0 && run_.plan.config.protect_shared) shared_.begin();
        barrier_.arrive_and_wait();  // handlers may run
        if (w == 0) {
            guarded([&] {
                const auto network = rank_.hold_network();
                begin_output(run_);
            });
            guarded([&] { begin_services(); });
        }
        if (w == 0 && !rank_.failed()) has_groups_.store(true, std::memory_order_release);
        if (!run_.plan.config.restart_from && run_.paused == nullptr) start(w);
        barrier_.arrive_and_wait();  // from now on workers or the net thread serve the network
        if (w == 0) pump_.end();
    }

    // If LPs of several workers fail, the rank reports the failure of the LP with the smallest
    // number. The rank does not agree with other ranks on a failure, because the set-up of other
    // ranks may take long.
    void start(std::uint32_t w) {
        guarded([&] {
            try {
                workers_[w]->start();
            } catch (const ModelError& error) {
                rank_.fail_in_model({.sender = workers_[w]->lps().failed_lp()}, error.what());
            }
        });
        barrier_.arrive_and_wait();  // all LPs were started, or one has failed
        if (rank_.model_failed()) rank_.stop();
    }

    // Thread: the pump.
    void pump() noexcept {
        guarded([&] {
            // Pairs with the release in set_up(): the groups are complete.
            if (has_groups_.load(std::memory_order_acquire))
                rank_.net_step();
            else
                rank_.receive_early();
        });
    }

    void prepare_to_leave() {
        NW_CHECK(!rank_.is_round_under_way());
        leaving_ = std::make_unique<PausedRun>(run_.plan);
    }

    void leave(std::uint32_t w) {
        leaving_->workers[w].tally = tallies_[w];
        workers_[w]->pauses().leave_to(*leaving_);
    }

    // --- Saving ---

    bool cannot_continue() const noexcept override { return rank_.failed(); }
    void fail_now() noexcept override { rank_.fail(std::current_exception()); }
    int signal_to_end() const noexcept override {
        return std::max(agreed_signal(), rank_.stop_signal());
    }
    const RunHistory& history() const noexcept override { return rank_.history(); }

    // --- Thread: the main thread, after the worker threads have ended ---

    void rethrow_failure() {
        // Another rank has the earliest failure. It prints the failure and ends all ranks. This
        // rank waits for this end in a collective call: normally, share() does not return.
        if (failed_rank_ && *failed_rank_ != rank_.id()) run_.ranks.share({});
        rank_.rethrow_failure();
    }

    void report_end() {
        RunResult& result = run_.result;
        const RunEnd end = workers_[0]->end();
        result.reason = end.reason;
        // If the run was saved, RunSaver has set the signal.
        if (result.reason == EndReason::interrupted && !run_.plan.config.save.on())
            result.signal = agreed_signal();
        result.end_time = end.time;
        if (end.splits_time) note_split_time(result);
        if (result.end_time != time_infinity) return;
        result.end_time = 0;
        for (const auto& worker : workers_)
            result.end_time = std::max(result.end_time, worker->end().last_commit);
        const std::vector<VirtualTime> times = share_values(run_.ranks, result.end_time);
        result.end_time = *std::max_element(times.begin(), times.end());
    }

    void run_on_end() {
        RunResult& result = run_.result;
        for (const auto& worker : workers_)
            if (const IntervalSums* const intervals = worker->lps().intervals())
                result.measures.intervals() += *intervals;
        AdoptedThread<Executor> thread;
        for (std::uint32_t lp = 0; lp < run_.plan.rules.lps; ++lp) {
            const Partition::Position at = run_.plan.partition.position(lp);
            const Partition::Owner owner = rank_.owner(at.group);
            if (owner.rank != index(rank_.id())) continue;
            Worker& worker = *workers_[owner.worker];
            thread.adopt(worker.executor());
            worker.lps().run_on_end(rank_.group(at.group)->lps[at.index], result.end_time,
                                    result.measures);
        }
    }

    // Completes the progress that the workers give to another engine.
    void give_progress(PausedRun& paused) {
        paused.gvt = workers_[0]->pauses().paused_at();
        paused.history = std::move(rank_.history());
        paused.loop = loop_;
        for (const auto& worker : workers_)
            worker->add_sent_to(sent_by_rank(run_.result, run_.plan.ranks));
    }

    void gather_results() {
        RunResult& result = run_.result;
        result.segments_bytes = run_.memory.segment_bytes();
        result.history = rank_.history().samples();
        for (std::uint32_t w = 0; w < workers_.size(); ++w) {
            Worker& worker = *workers_[w];
            worker.report(tallies_[w]);
            report_lps(result, *tallies_[w].groups);
            worker.add_sent_to(sent_by_rank(result, run_.plan.ranks));
            report_worker(result, run_.places, w, tallies_[w]);
        }
    }

    void destroy_lps() {
        shared_.end();
        for (const auto& worker : workers_) {
            const AdoptedThread adopted(worker->executor());
            worker->lps().destroy_lps(run_.stop_signal);
        }
    }

    const std::uint32_t cpus_;  // number of CPUs that the workers may use
    std::atomic<bool> has_groups_{false};
    SetupPump pump_;
    RunSaver saver_;
    HandlerWatch watch_;
    bool is_pause_ = false;               // written by worker 0, between two barriers
    std::optional<RankId> failed_rank_;   // as is_pause_; rank with the earliest failure
    Stopwatch loop_;                      // began with the event loop of the run's first engine
    std::unique_ptr<PausedRun> leaving_;  // as is_pause_; for the engine that continues the run
};

template <class Rank, class Worker>
void ThreadedRun<Rank, Worker>::event_loop(std::uint32_t w) {
    Worker& worker = *workers_[w];
    const ThreadCounters counters(run_.memory.os(), run_.plan.config.hardware_counters);
    const Stopwatch stopwatch;
    const TurnRules rules{*this};
    TurnLoop<Worker, TurnRules> turns(w, workers_, rank_.carriers(), rank_.sleepers(), rules);
    // An exception must not leave this block, because the other workers wait at the barriers below.
    if (w == 0)
        guarded([&] {
            loop_ = begin_progress(run_, rank_.history());
            saver_.begin(loop_);
        });
    for (;;) {
        guarded([&] { turns.run(); });
        turns.leave();
        barrier_.arrive_and_wait();  // no worker is executing
        if (w == 0) {
            guarded([&] { failed_rank_ = agree_on_failure(); });
            is_pause_ = worker.paused() && !rank_.failed();
        }
        barrier_.arrive_and_wait();
        if (!is_pause_) break;
        std::unique_lock<SpinLock> network;
        if (w == 0) network = rank_.hold_network();
        barrier_.arrive_and_wait();
        pause(w);
        if (leaving_ != nullptr) break;
    }
    if (w == 0) run_.result.wall_seconds = loop_.wall_seconds();
    tallies_[w].busy_seconds = stopwatch.thread_cpu_seconds();
    tallies_[w].asleep_seconds = turns.asleep_seconds();
    tallies_[w].hardware = counters.counts();
    if (run_.paused != nullptr) tallies_[w].add_times(run_.paused->workers[w].tally);
}

// If workers are bound to the same CPU, the thread of the first of these workers is their carrier.
// If workers are not bound, the threads of the first `cpus_` workers are carriers. So worker 0,
// which may serve the network, is never lent.
template <class Rank, class Worker>
std::uint32_t ThreadedRun<Rank, Worker>::carrier(std::uint32_t w) const noexcept {
    if (!run_.places.pin) return w % cpus_;
    const int cpu = place_of(w).cpu;
    std::uint32_t first = 0;
    while (first < w && place_of(first).cpu != cpu) ++first;
    return first;
}

template <class Rank, class Worker>
void ThreadedRun<Rank, Worker>::pause(std::uint32_t w) {
    const auto purpose = workers_[w]->pauses().purpose();
    if (purpose.save) {
        saver_.save(w);  // the request to leave, if there is one, remains
    } else if (purpose.leave) {
        if (w == 0) guarded([&] { prepare_to_leave(); });
        barrier_.arrive_and_wait();
    } else {
        workers_[w]->pauses().resume();
    }
}

// Connects this rank with the other ranks, creates the Rank, and calls run_on(rank). `of_rank`: the
// last arguments of Rank's constructor. If the run fails, the other ranks end before the rank and
// the transport are destroyed.
template <class Rank, class RunOn, class... OfRank>
void run_threaded(EngineRun& run, RunOn&& run_on, OfRank&&... of_rank) {
    const std::unique_ptr<Transport> transport = run.ranks.open_transport(
        sizeof(WireEvent) + WireEvent::padded(run.plan.rules.payload_bytes_max));
    std::optional<Rank> rank;
    try {
        rank.emplace(run.plan, *transport, run.memory, run.output, run.progress, run.stop_signal,
                     std::forward<OfRank>(of_rank)...);
        rank->set_trial(run.trial);
        run_on(*rank);
    } catch (...) {
        if (run.ranks.ranks() > 1 && run.progress.failed) run.progress.failed();
        throw;
    }
}

}  // namespace nw
