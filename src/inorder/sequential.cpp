// The sequential engine: the oracle of all others, and the fastest way to run a model on one core.
// Smallest key first, executed for good.

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

}  // namespace

void run_sequential(EngineRun& run) {
    InOrderWorld world{run.plan, run.memory, run.output, {}, {}};
    world.groups.resize(run.plan.partition.groups());
    world.ready_lists = std::vector<ReadyList>(1);
    InOrderExecutor executor(world, 0);
    SharedArena::ReadOnly shared;  // ends before LPs are destroyed
    RunResult& result = run.result;
    WorkerTally tally;
    RunHistory history;
    const HandlerWatch handlers(run.plan.config, {&executor}, run.progress);
    const auto body = [&](std::uint32_t) {
        const AdoptedThread adopted(executor);
        start_worker(run.model);
        executor.set_up();
        if (run.plan.config.protect_shared) shared.begin();
        executor.start();
        const Stopwatch watch;
        history.begin(RunHistory::Clock::now());
        run.progress.begin(0);
        const VirtualTime until = run.plan.until;
        while (!executor.all_ended() && executor.next_time() < until &&
               run.stop_signal.load(std::memory_order_relaxed) == 0) {
            executor.run(until, events_per_look);
            executor.apply_memory_pressure();
            const std::uint64_t executed = executor.counters()[Counter::executed_events];
            executor.hand_over_output(executor.last_time());
            run.progress.gvt.store(executor.last_time(), std::memory_order_relaxed);
            run.progress.committed_events.store(executed, std::memory_order_relaxed);
            run.progress.executed_events.store(executed, std::memory_order_relaxed);
            const auto now = RunHistory::Clock::now();
            if (history.is_due(now))
                history.add(now, {.gvt = executor.last_time(),
                                  .committed_events = executed,
                                  .executed_events = executed,
                                  .resident_bytes = world.budget.used_bytes()});
        }
        result.wall_seconds = watch.wall_seconds();
        tally.busy_seconds = watch.thread_cpu_seconds();

        if (executor.all_ended()) {
            result.reason = EndReason::all_can_end;
            result.end_time = executor.last_time();
        } else if (executor.next_time() < until) {
            result.reason = EndReason::interrupted;
            result.end_time = executor.next_time();
        } else {
            const bool ran_dry = !executor.dropped_beyond_end();
            result.reason = ran_dry ? EndReason::no_events : EndReason::until;
            result.end_time = until == time_infinity ? executor.last_time() : until;
        }
        executor.hand_over_output(time_infinity);
        run.output.finish();
        if (result.reason != EndReason::interrupted) {
            for (std::uint32_t lp = 0; lp < run.plan.setup.lps; ++lp) {
                const Partition::Position position = run.plan.partition.position(lp);
                executor.run_on_end(world.groups[position.group]->lps[position.index],
                                    result.end_time);
            }
        }
        add_digest(executor.groups(), result.digest);
        executor.destroy_lps();
    };
    run_worker_threads(run.memory.os(), run.places, body, result.notices);
    tally.counters = executor.counters();
    tally.groups = &executor.groups();
    report_worker(result, run.places, 0, tally);
    result.history = history.samples();
    result.segments_bytes = run.memory.segment_bytes();
}

}  // namespace nw
