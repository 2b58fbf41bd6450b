// SPDX-License-Identifier: Apache-2.0
// The conservative engine on one rank: the worker threads that run WindowRank and WindowWorker, and
// the end of the run.

#include "engine/inorder/conservative.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "engine/engine_run.hpp"
#include "engine/handler_watch.hpp"
#include "engine/inorder/window_rank.hpp"
#include "engine/inorder/window_worker.hpp"
#include "engine/run_saver.hpp"
#include "engine/run_turns.hpp"
#include "engine/setup_pump.hpp"
#include "engine/worker_start.hpp"
#include "event/wire_event.hpp"
#include "lp/group.hpp"
#include "memory/region/shared_arena.hpp"
#include "numa/place/group_pages.hpp"
#include "numa/place/placement_probe.hpp"
#include "results/statistics/stopwatch.hpp"
#include "util/check.hpp"
#include "util/locks.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

class ConservativeRun final : private SavedRank {
  public:
    ConservativeRun(EngineRun& run, WindowRank& rank)
        : run_(run),
          rank_(rank),
          workers_(make_workers(rank)),
          tallies_(run.plan.workers),
          barrier_(static_cast<std::ptrdiff_t>(run.plan.workers)),
          pump_(run.plan.ranks > 1, [this] { pump(); }),
          saver_(run, *this, saved_workers(workers_), barrier_),
          watch_(run.plan, watched(), run.progress, run.stop_signal) {}

    void run() {
        run_worker_threads(
            run_.memory.os(), run_.places, [this](std::uint32_t w) { work(w); },
            run_.result.notices);
        pump_.end();
        rethrow_failure();
        run_.paused = std::move(leaving_);
        if (run_.paused != nullptr) {
            give_progress(*run_.paused);
            return;
        }
        report_end();
        run_.output.finish();
        start_worker(run_.model);  // this thread calls on_end() and destructors
        if (run_.result.reason != EndReason::interrupted) {
            const LiveProgress::Unstoppable phase(run_.progress, in_on_end);
            run_on_end();
        }
        gather_results();
        report_placement();
        destroy_lps();
    }

  private:
    using Workers = std::vector<std::unique_ptr<WindowWorker>>;

    static Workers make_workers(WindowRank& rank) {
        Workers workers;
        for (std::uint32_t w = 0; w < rank.plan().workers; ++w)
            workers.push_back(std::make_unique<WindowWorker>(rank, w));
        return workers;
    }

    std::vector<WatchedThread*> watched() const {
        std::vector<WatchedThread*> threads;
        for (const auto& worker : workers_) threads.push_back(&worker->executor());
        return threads;
    }

    // --- Thread: each worker's ---

    template <class Step>
    void guarded(std::uint32_t, Step&& step) noexcept {
        rank_.guarded(step);
    }

    void work(std::uint32_t w) {
        AdoptedThread<InOrderExecutor> adopted;
        guarded(w, [&] { adopted.adopt(workers_[w]->executor()); });
        set_up(w);
        const ThreadCounters counters(run_.memory.os(), run_.plan.config.hardware_counters);
        const Stopwatch stopwatch;
        guarded(w, [&] {
            if (w != 0) return;
            loop_ = begin_progress(run_, rank_.history());
            saver_.begin(loop_);
        });
        for (;;) {
            guarded(w, [&] { turn_until_still(*workers_[w]); });
            barrier_.arrive_and_wait();  // now no worker executes events
            if (w == 0) {
                guarded(w, [&] { rank_.finish_sending(); });
                is_pause_ = workers_[w]->paused() && !rank_.failed();
            }
            barrier_.arrive_and_wait();
            if (!is_pause_) break;
            if (workers_[w]->is_leaving()) {
                if (w == 0) guarded(w, [&] { prepare_to_leave(); });
                barrier_.arrive_and_wait();
                break;
            }
            saver_.save(w);
        }
        meter_phase<MeterPhase::ending>();
        if (w == 0) run_.result.wall_seconds = loop_.wall_seconds();
        tallies_[w].busy_seconds = stopwatch.thread_cpu_seconds();
        tallies_[w].asleep_seconds = workers_[w]->asleep_seconds();
        tallies_[w].hardware = counters.counts();
        if (run_.paused != nullptr) tallies_[w].add_times(run_.paused->workers[w].tally);
        guarded(w, [&] {
            if (leaving_ != nullptr)
                leave(w);
            else
                workers_[w]->executor().hand_over_output(time_infinity);
        });
    }

    void prepare_to_leave() {
        NW_CHECK(!rank_.rounds().is_under_way());
        leaving_ = std::make_unique<PausedRun>(run_.plan);
    }

    void leave(std::uint32_t w) {
        leaving_->workers[w].tally = tallies_[w];
        workers_[w]->executor().leave_to(*leaving_, sums().earliest);
    }

    void set_up(std::uint32_t w) {
        guarded(w, [&] {
            start_worker(run_.model);
            if (run_.paused != nullptr)
                workers_[w]->executor().continue_from(*run_.paused);
            else
                workers_[w]->executor().set_up();
        });
        barrier_.arrive_and_wait();  // every group exists, or a worker has failed
        if (w == 0 && run_.plan.config.protect_shared) shared_.begin();
        barrier_.arrive_and_wait();
        if (w == 0)
            guarded(w, [&] {
                const auto network = rank_.hold_network();
                begin_output(run_);
            });
        if (w == 0 && !rank_.failed()) has_groups_.store(true, std::memory_order_release);
        guarded(w, [&] {
            if (run_.paused == nullptr) workers_[w]->start();
        });
        barrier_.arrive_and_wait();  // worker 0 serves the network from now on
        // Other ranks may need long for their set-up. Therefore this rank does not agree with them
        // on a failure at this stage.
        if (rank_.model_failed()) rank_.stop();
        barrier_.arrive_and_wait();
        if (w == 0) pump_.end();
    }

    // Thread: the pump's.
    void pump() noexcept {
        try {
            // Pairs with the release in set_up(): the groups are complete.
            if (has_groups_.load(std::memory_order_acquire))
                rank_.net_step();
            else
                rank_.receive_early();
        } catch (...) {
            rank_.fail(std::current_exception());
        }
    }

    void turn_until_still(WindowWorker& worker) {
        run_turns(
            worker, [&] { return worker.finished() || worker.paused(); },
            [&] { return run_.places.share_cpus; });
    }

    // --- Saving ---

    bool cannot_go_on() const noexcept override { return rank_.failed(); }
    void fail_now() noexcept override { rank_.fail(std::current_exception()); }
    int signal_to_end() const noexcept override {
        return std::max(sums().stop, rank_.stop_signal());
    }
    const RunHistory& history() const noexcept override { return rank_.history(); }

    // --- Thread: the main one, after the workers' threads have ended ---

    const WindowSums& sums() const noexcept { return rank_.rounds().result(); }

    void rethrow_failure() {
        if (rank_.failed() || sums().failed_rank == index(rank_.id())) rank_.rethrow_failure();
        // Another rank has the failure. That rank reports the failure and ends all ranks.
        if (sums().failed()) run_.ranks.share({});
    }

    void report_end() {
        RunResult& result = run_.result;
        const VirtualTime until = run_.plan.until;
        result.end_time = std::min(sums().earliest, until);
        if (sums().earliest < until) {
            result.reason = EndReason::interrupted;
            // If the run was saved, RunSaver has set the signal.
            if (!run_.plan.config.save.on()) result.signal = sums().stop;
            if (sums().executed > 0 && sums().earliest <= sums().last_time) note_split_time(result);
        } else {
            result.reason = sums().dropped ? EndReason::until : EndReason::no_events;
        }
        if (result.end_time == time_infinity) result.end_time = sums().last_time;
    }

    void run_on_end() {
        for (const auto& worker : workers_)
            run_.result.measures.intervals() += worker->executor().intervals();
        AdoptedThread<InOrderExecutor> thread;
        for (std::uint32_t lp = 0; lp < run_.plan.rules.lps; ++lp) {
            const std::uint32_t group = run_.plan.partition.position(lp).group;
            const Partition::Owner owner = run_.plan.partition.first_owner(group);
            if (owner.rank != index(rank_.id())) continue;
            InOrderExecutor& executor = workers_[owner.worker]->executor();
            thread.adopt(executor);
            executor.run_on_end(rank_.world().lp(lp), run_.result.end_time, run_.result.measures);
        }
    }

    // Completes the progress that the workers give to another engine.
    void give_progress(PausedRun& paused) {
        paused.gvt = sums().earliest;
        paused.history = std::move(rank_.history());
        paused.loop = loop_;
        for (const auto& worker : workers_)
            worker->executor().mail().add_sent_to(sent_by_rank(run_.result, run_.plan.ranks));
    }

    void gather_results() {
        RunResult& result = run_.result;
        result.history = rank_.history().samples();
        result.segments_bytes = run_.memory.segment_bytes();
        for (std::uint32_t w = 0; w < workers_.size(); ++w) {
            InOrderExecutor& executor = workers_[w]->executor();
            report_lps(result, executor.groups());
            executor.mail().add_sent_to(sent_by_rank(result, run_.plan.ranks));
            tallies_[w].counters = executor.counters();
            tallies_[w].figures = executor.figures();
            tallies_[w].groups = &executor.groups();
            report_worker(result, run_.places, w, tallies_[w]);
        }
    }

    // Takes one sample of the nodes of pages. This engine does not move groups, so one is enough.
    void report_placement() try {
        NumaReport& numa = run_.result.numa;
        if (!pages_can_be_remote(run_.places, numa.nodes)) return;
        std::vector<const PlacedGroup*> groups;
        for (const auto& worker : workers_)
            for (const Group* group : worker->executor().groups()) groups.push_back(&group->memory);
        numa.set_placement(probe_placement(run_.memory.os(), groups, pages_of_last_sample),
                           run_.result.notices);
        numa.pages_shared = pages_shared_between_groups(groups);
    } catch (const std::bad_alloc&) {
        // The run is done: a lack of memory for the sample must not make it fail.
    }

    void destroy_lps() {
        shared_.end();
        for (const auto& worker : workers_) {
            const AdoptedThread adopted(worker->executor());
            worker->executor().destroy_lps(run_.stop_signal);
        }
    }

    EngineRun& run_;
    WindowRank& rank_;
    Workers workers_;
    SharedArena::ReadOnly shared_;  // until the first destructor of an LP
    std::vector<WorkerTally> tallies_;
    std::barrier<> barrier_;
    std::atomic<bool> has_groups_{false};
    SetupPump pump_;
    RunSaver saver_;
    HandlerWatch watch_;
    bool is_pause_ = false;               // written by worker 0 between two barriers
    Stopwatch loop_;                      // began with the event loop of the run's first engine
    std::unique_ptr<PausedRun> leaving_;  // as is_pause_; for the engine that continues the run
};

}  // namespace

void run_conservative(EngineRun& run) {
    const std::unique_ptr<Transport> transport = run.ranks.open_transport(
        sizeof(WireEvent) + WireEvent::padded(run.plan.rules.payload_bytes_max));
    std::optional<WindowRank> rank;
    try {
        rank.emplace(run.plan, *transport, run.memory, run.output, run.progress, run.stop_signal);
        rank->set_trial(run.trial);
        ConservativeRun(run, *rank).run();
    } catch (...) {
        if (run.ranks.ranks() > 1 && run.progress.failed) run.progress.failed();
        throw;
    }
}

}  // namespace nw
