// The sequential engine: the oracle of all others, and the fastest way to run a model on one core.
// Smallest key first, executed for good.

#include "base/meter_marks.hpp"
#include "engine/engines.hpp"
#include "engine/handler_watch.hpp"
#include "engine/worker_start.hpp"
#include "inorder/in_order_executor.hpp"
#include "numa/region/shared_arena.hpp"
#include "stats/stopwatch.hpp"

namespace nw {
namespace {

// Between two looks at the stop signal, the progress line and the memory in use.
constexpr std::uint64_t events_per_look = 2048;

class SequentialRun {
  public:
    explicit SequentialRun(EngineRun& run)
        : run_(run),
          world_(run.plan, run.memory, run.output, nullptr),
          executor_(world_, 0),
          watch_(run.plan.config, {&executor_}, run.progress) {}

    void run() {
        run_worker_threads(
            run_.memory.os(), run_.places, [this](std::uint32_t) { work(); }, run_.result.notices);
        tally_.counters = executor_.counters();
        tally_.groups = &executor_.groups();
        report_worker(run_.result, run_.places, 0, tally_);
        run_.result.history = history_.samples();
        run_.result.segments_bytes = run_.memory.segment_bytes();
    }

  private:
    // The whole run, in the worker's thread.
    void work() {
        const AdoptedThread adopted(executor_);
        start_worker(run_.model);
        executor_.set_up();
        if (run_.plan.config.protect_shared) shared_.begin();
        executor_.start([] {});
        meter_phase<MeterPhase::execute>();
        execute();
        meter_phase<MeterPhase::ending>();
        say_how_it_ended();
        executor_.hand_over_output(time_infinity);
        run_.output.finish();
        if (run_.result.reason != EndReason::interrupted) {
            for (std::uint32_t lp = 0; lp < run_.plan.setup.lps; ++lp)
                executor_.run_on_end(world_.lp(lp), run_.result.end_time);
        }
        add_digest(executor_.groups(), run_.result.digest);
        shared_.end();
        executor_.destroy_lps();
    }

    void execute() {
        const ThreadCounters counters(run_.memory.os(), run_.plan.config.hardware_counters);
        const Stopwatch stopwatch;
        history_.begin(RunHistory::Clock::now());
        run_.progress.begin(0);
        const VirtualTime until = run_.plan.until;
        while (!executor_.all_ended() && executor_.next_time() < until &&
               run_.stop_signal.load(std::memory_order_relaxed) == 0) {
            executor_.run(until, events_per_look);
            executor_.apply_memory_pressure(MemoryBudget::Clock::now());
            executor_.hand_over_output(executor_.last_time());
            report_progress();
        }
        run_.result.wall_seconds = stopwatch.wall_seconds();
        tally_.busy_seconds = stopwatch.thread_cpu_seconds();
        tally_.hardware = counters.counts();
    }

    void report_progress() {
        const std::uint64_t executed = executor_.counters()[Counter::executed_events];
        run_.progress.gvt.store(executor_.last_time(), std::memory_order_relaxed);
        run_.progress.committed_events.store(executed, std::memory_order_relaxed);
        run_.progress.executed_events.store(executed, std::memory_order_relaxed);
        const auto now = RunHistory::Clock::now();
        if (history_.is_due(now))
            history_.add(now, {.gvt = executor_.last_time(),
                               .committed_events = executed,
                               .executed_events = executed,
                               .resident_bytes = world_.budget.used_bytes()});
    }

    void say_how_it_ended() {
        RunResult& result = run_.result;
        const VirtualTime until = run_.plan.until;
        if (executor_.all_ended()) {
            result.reason = EndReason::all_can_end;
            result.end_time = executor_.last_time();
        } else if (executor_.next_time() < until) {
            result.reason = EndReason::interrupted;
            result.end_time = executor_.next_time();
        } else {
            const bool ran_dry = !executor_.dropped_beyond_end();
            result.reason = ran_dry ? EndReason::no_events : EndReason::until;
            result.end_time = until == time_infinity ? executor_.last_time() : until;
        }
    }

    EngineRun& run_;
    InOrderWorld world_;
    InOrderExecutor executor_;
    SharedArena::ReadOnly shared_;  // to the first destructor of an LP
    WorkerTally tally_;
    RunHistory history_;
    HandlerWatch watch_;
};

}  // namespace

void run_sequential(EngineRun& run) { SequentialRun(run).run(); }

}  // namespace nw
