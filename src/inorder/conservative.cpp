// The conservative engine: windows of the model's declared lookahead L. With T the earliest pending
// time of all, no event before T + L can still be influenced by another LP (fl(t + d) is monotone, so
// rounding does not break this), and every worker executes its own up to there.
//
// Two barriers a window: after the minima stand (all see the same T), after the mail is sent.
//
// Compare Nicol: "The cost of conservative synchronization in parallel discrete event simulations",
// JACM 1993.

#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "base/meter_marks.hpp"
#include "base/spin_barrier.hpp"
#include "engine/engines.hpp"
#include "engine/handler_watch.hpp"
#include "engine/worker_start.hpp"
#include "inorder/in_order_executor.hpp"
#include "numa/region/shared_arena.hpp"
#include "stats/stopwatch.hpp"

namespace nw {
namespace {

// Between two looks at the memory in use.
constexpr std::uint64_t events_per_look = 2048;

// A window takes some microseconds and more. Where every worker has a core, who has done waits for as long as a
// thread that sleeps takes to wake up, some 50 µs; where cores are shared, others need the core.
constexpr std::uint32_t looks_before_sleep = 4000;
constexpr std::uint32_t looks_before_sleep_shared = 8;

// What a worker says before each window. All decide from all of these alone, so that they decide
// alike: a worker that left while another went on would be waited for forever.
struct alignas(64) Minimum {
    VirtualTime time = 0;
    int stop = 0;
    bool failed = false;
};

// Keeps the earliest failure of a window in virtual time, as it may be the cause of the others.
// A bug of ours outranks what the model did.
class FirstFailure {
  public:
    explicit operator bool() const noexcept { return exists_.load(std::memory_order_relaxed); }

    // Thread: any, in a catch block. `at`: what the worker was executing.
    void note(const EventKey& at) {
        bool models = false;
        try {
            throw;
        } catch (const ModelError&) {
            models = true;
        } catch (...) {
        }
        const std::lock_guard lock(mutex_);
        if (failure_ == nullptr || (of_model_ && (!models || before(at, at_)))) {
            failure_ = std::current_exception();
            of_model_ = models;
            at_ = at;
        }
        exists_.store(true, std::memory_order_relaxed);
    }
    void rethrow() const {
        if (failure_ != nullptr) std::rethrow_exception(failure_);
    }

  private:
    std::atomic<bool> exists_{false};
    std::mutex mutex_;
    std::exception_ptr failure_;
    bool of_model_ = false;
    EventKey at_;
};

// Where all workers stand between two windows, by all minima.
struct Standing {
    VirtualTime earliest = time_infinity;
    int stop = 0;
    bool failed = false;
};

class ConservativeRun {
  public:
    explicit ConservativeRun(EngineRun& run)
        : run_(run),
          world_(run.plan, run.memory, run.output, run.plan.workers),
          executors_(make_executors(world_)),
          minima_(run.plan.workers),
          tallies_(run.plan.workers),
          barrier_(run.plan.workers,
                   run.places.share_cpus ? looks_before_sleep_shared : looks_before_sleep),
          watch_(run.plan.config, watched(executors_), run.progress) {}

    void run() {
        run_worker_threads(
            run_.memory.os(), run_.places, [this](std::uint32_t w) { work(w); },
            run_.result.notices);
        failure_.rethrow();
        say_how_it_ended();
        run_.output.finish();
        start_worker(run_.model);  // this thread's turn: on_end(), destructors
        if (run_.result.reason != EndReason::interrupted) run_on_end();
        gather_results();
        destroy_lps();
    }

  private:
    using Executors = std::vector<std::unique_ptr<InOrderExecutor>>;

    static Executors make_executors(InOrderWorld& world) {
        Executors executors;
        for (std::uint32_t w = 0; w < world.plan.workers; ++w)
            executors.push_back(std::make_unique<InOrderExecutor>(world, w));
        return executors;
    }

    template <class Step>
    void attempt(InOrderExecutor& executor, Step&& step) {
        try {
            step();
        } catch (...) {
            failure_.note(executor.at());
        }
    }

    // --- Thread: each worker's ---

    void work(std::uint32_t w) {
        const AdoptedThread adopted(*executors_[w]);
        set_up(w);
        const ThreadCounters counters(run_.memory.os(), run_.plan.config.hardware_counters);
        const Stopwatch stopwatch;
        if (w == 0) history_.begin(RunHistory::Clock::now());
        if (w == 0) run_.progress.begin(0);
        for (;;) {
            const Standing standing = find_standing(w);
            if (standing.failed) break;
            if (w == 0) report_progress(standing.earliest);
            if (standing.earliest >= run_.plan.until || standing.stop != 0) {
                if (w == 0) end_at(standing.earliest);
                break;
            }
            attempt(*executors_[w], [&] { execute_window(*executors_[w], standing.earliest); });
            if (w == 0) ++executors_[w]->counters()[Counter::gvt_rounds];
        }
        meter_phase<MeterPhase::ending>();
        if (w == 0) run_.result.wall_seconds = stopwatch.wall_seconds();
        tallies_[w].busy_seconds = stopwatch.thread_cpu_seconds();
        tallies_[w].hardware = counters.counts();
        attempt(*executors_[w], [&] { executors_[w]->hand_over_output(time_infinity); });
    }

    void set_up(std::uint32_t w) {
        InOrderExecutor& executor = *executors_[w];
        attempt(executor, [&] {
            start_worker(run_.model);
            executor.set_up();
        });
        barrier_.arrive_and_wait();  // every group exists, or somebody failed
        const bool all_built = !failure_;
        if (w == 0 && run_.plan.config.protect_shared) shared_.begin();
        barrier_.arrive_and_wait();
        if (all_built) attempt(executor, [&] { executor.start(); });
    }

    Standing find_standing(std::uint32_t w) {
        InOrderExecutor& executor = *executors_[w];
        meter_phase<MeterPhase::gvt>();
        barrier_.arrive_and_wait();  // all mail is sent
        meter_phase<MeterPhase::mail>();
        attempt(executor, [&] { executor.fetch_mail(); });
        minima_[w] = {executor.next_time(), run_.stop_signal.load(std::memory_order_relaxed),
                      bool(failure_)};
        meter_phase<MeterPhase::gvt>();
        barrier_.arrive_and_wait();  // all minima stand
        Standing standing;
        for (const Minimum& minimum : minima_) {
            standing.earliest = std::min(standing.earliest, minimum.time);
            standing.stop = std::max(standing.stop, minimum.stop);
            standing.failed |= minimum.failed;
        }
        return standing;
    }

    void execute_window(InOrderExecutor& executor, VirtualTime earliest) {
        const VirtualTime lookahead = run_.plan.setup.lookahead;
        const VirtualTime horizon = std::min(run_.plan.until, earliest + lookahead);
        if (!(horizon > earliest))
            throw ModelError(fmt::format(
                "at time {} the declared lookahead of {} is lost in rounding; legal: one that "
                "makes a difference there",
                earliest, lookahead));
        meter_phase<MeterPhase::execute>();
        std::uint64_t executed = 0;
        for (std::uint64_t some = events_per_look; some == events_per_look;) {
            some = executor.run(horizon, events_per_look);
            executed += some;
            executor.apply_memory_pressure();
        }
        run_.progress.committed_events.fetch_add(executed, std::memory_order_relaxed);
        run_.progress.executed_events.fetch_add(executed, std::memory_order_relaxed);
        executor.hand_over_output(horizon);
        meter_phase<MeterPhase::mail>();
        executor.send_mail();
    }

    // --- Thread: worker 0's ---

    void report_progress(VirtualTime earliest) {
        const VirtualTime gvt = std::min(earliest, run_.plan.until);
        run_.progress.gvt.store(gvt);
        const auto now = RunHistory::Clock::now();
        if (!history_.is_due(now)) return;
        const std::uint64_t executed =
            run_.progress.executed_events.load(std::memory_order_relaxed);
        history_.add(now, {.gvt = gvt,
                           .committed_events = executed,
                           .executed_events = executed,
                           .gvt_rounds = executors_[0]->counters()[Counter::gvt_rounds],
                           .resident_bytes = world_.budget.used_bytes()});
    }

    void end_at(VirtualTime earliest) {
        const bool interrupted = earliest < run_.plan.until;
        run_.result.reason = interrupted ? EndReason::interrupted : EndReason::until;
        run_.result.end_time = std::min(earliest, run_.plan.until);
    }

    // --- Thread: the main one, when the workers' have ended ---

    void say_how_it_ended() {
        RunResult& result = run_.result;
        bool dropped = false;
        VirtualTime last_time = 0;
        for (const auto& executor : executors_) {
            dropped |= executor->dropped_beyond_end();
            last_time = std::max(last_time, executor->last_time());
        }
        if (result.reason == EndReason::until && !dropped) result.reason = EndReason::no_events;
        if (result.end_time == time_infinity) result.end_time = last_time;
    }

    void run_on_end() {
        AdoptedThread<InOrderExecutor> thread;
        for (std::uint32_t lp = 0; lp < run_.plan.setup.lps; ++lp) {
            const std::uint32_t group = run_.plan.partition.position(lp).group;
            InOrderExecutor& executor = *executors_[run_.plan.partition.first_owner(group).worker];
            thread.adopt(executor);
            executor.run_on_end(world_.lp(lp), run_.result.end_time);
        }
    }

    void gather_results() {
        RunResult& result = run_.result;
        result.history = history_.samples();
        result.segments_bytes = run_.memory.segment_bytes();
        for (std::uint32_t w = 0; w < executors_.size(); ++w) {
            add_digest(executors_[w]->groups(), result.digest);
            tallies_[w].counters = executors_[w]->counters();
            tallies_[w].groups = &executors_[w]->groups();
            report_worker(result, run_.places, w, tallies_[w]);
        }
    }

    void destroy_lps() {
        for (const auto& executor : executors_) {
            const AdoptedThread adopted(*executor);
            executor->destroy_lps();
        }
    }

    EngineRun& run_;
    InOrderWorld world_;
    Executors executors_;
    SharedArena::ReadOnly shared_;  // ends before LPs are destroyed
    std::vector<Minimum> minima_;
    std::vector<WorkerTally> tallies_;
    SpinBarrier barrier_;
    FirstFailure failure_;
    RunHistory history_;  // worker 0's
    HandlerWatch watch_;
};

}  // namespace

void run_conservative(EngineRun& run) { ConservativeRun(run).run(); }

}  // namespace nw
