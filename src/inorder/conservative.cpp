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
#include <barrier>
#include <mutex>

#include <fmt/format.h>

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

}  // namespace

void run_conservative(EngineRun& run) {
    const std::uint32_t workers = run.plan.workers;
    InOrderWorld world{run.plan, run.memory, run.output, {}, {}};
    world.groups.resize(run.plan.partition.groups());
    world.ready_lists = std::vector<ReadyList>(workers);
    std::vector<std::unique_ptr<InOrderExecutor>> executors;
    for (std::uint32_t w = 0; w < workers; ++w)
        executors.push_back(std::make_unique<InOrderExecutor>(world, w));
    SharedArena::ReadOnly shared;  // ends before LPs are destroyed

    std::vector<Minimum> minima(workers);
    std::vector<WorkerTally> tallies(workers);
    std::barrier barrier(static_cast<std::ptrdiff_t>(workers));
    FirstFailure failure;
    const auto attempt = [&](InOrderExecutor& executor, auto&& step) {
        try {
            step();
        } catch (...) {
            failure.note(executor.at());
        }
    };
    RunResult& result = run.result;
    RunHistory history;  // worker 0's
    const auto take_sample = [&](VirtualTime earliest) {
        const std::uint64_t executed = run.progress.executed_events.load(std::memory_order_relaxed);
        history.add(RunHistory::Clock::now(),
                    {.gvt = std::min(earliest, run.plan.until),
                     .committed_events = executed,
                     .executed_events = executed,
                     .gvt_rounds = executors[0]->counters()[Counter::gvt_rounds],
                     .resident_bytes = world.budget.used_bytes()});
    };
    std::vector<WatchedThread*> threads;
    for (const auto& executor : executors) threads.push_back(executor.get());
    const HandlerWatch handlers(run.plan.config, threads, run.progress);
    const auto body = [&](std::uint32_t w) {
        InOrderExecutor& executor = *executors[w];
        const AdoptedThread adopted(executor);
        attempt(executor, [&] {
            start_worker(run.model);
            executor.set_up();
        });
        barrier.arrive_and_wait();  // every group exists, or somebody failed
        const bool all_built = !failure;
        if (w == 0 && run.plan.config.protect_shared) shared.begin();
        barrier.arrive_and_wait();
        if (all_built) attempt(executor, [&] { executor.start(); });
        const Stopwatch watch;
        if (w == 0) history.begin(RunHistory::Clock::now());
        if (w == 0) run.progress.begin(0);
        for (;;) {
            barrier.arrive_and_wait();  // all mail is sent
            attempt(executor, [&] { executor.fetch_mail(); });
            minima[w] = {executor.next_time(), run.stop_signal.load(std::memory_order_relaxed),
                         bool(failure)};
            barrier.arrive_and_wait();  // all minima stand
            VirtualTime earliest = time_infinity;
            int stop = 0;
            bool failed = false;
            for (const Minimum& minimum : minima) {
                earliest = std::min(earliest, minimum.time);
                stop = std::max(stop, minimum.stop);
                failed |= minimum.failed;
            }
            if (failed) break;
            if (w == 0) run.progress.gvt.store(std::min(earliest, run.plan.until));
            if (w == 0 && history.is_due(RunHistory::Clock::now())) take_sample(earliest);
            if (earliest >= run.plan.until || stop != 0) {
                if (w == 0) {
                    const bool interrupted = earliest < run.plan.until;
                    result.reason = interrupted ? EndReason::interrupted : EndReason::until;
                    result.end_time = std::min(earliest, run.plan.until);
                }
                break;
            }
            const VirtualTime horizon =
                std::min(run.plan.until, earliest + run.plan.setup.lookahead);
            attempt(executor, [&] {
                if (!(horizon > earliest))
                    throw ModelError(fmt::format(
                        "at time {} the declared lookahead of {} is lost in rounding; legal: one "
                        "that makes a difference there",
                        earliest, run.plan.setup.lookahead));
                std::uint64_t executed = 0;
                for (std::uint64_t some = events_per_look; some == events_per_look;) {
                    some = executor.run(horizon, events_per_look);
                    executed += some;
                    executor.apply_memory_pressure();
                }
                run.progress.committed_events.fetch_add(executed, std::memory_order_relaxed);
                run.progress.executed_events.fetch_add(executed, std::memory_order_relaxed);
                executor.hand_over_output(horizon);
                executor.send_mail();
            });
            if (w == 0) ++executor.counters()[Counter::gvt_rounds];
        }
        if (w == 0) result.wall_seconds = watch.wall_seconds();
        tallies[w].busy_seconds = watch.thread_cpu_seconds();
        attempt(executor, [&] { executor.hand_over_output(time_infinity); });
    };
    run_worker_threads(run.memory.os(), run.places, body, result.notices);
    failure.rethrow();

    bool dropped = false;
    VirtualTime last_time = 0;
    for (const auto& executor : executors) {
        dropped |= executor->dropped_beyond_end();
        last_time = std::max(last_time, executor->last_time());
    }
    if (result.reason == EndReason::until && !dropped) result.reason = EndReason::no_events;
    if (result.end_time == time_infinity) result.end_time = last_time;
    result.history = history.samples();
    result.segments_bytes = run.memory.segment_bytes();
    run.output.finish();
    start_worker(run.model);  // this thread's turn: on_end(), destructors
    if (result.reason != EndReason::interrupted) {
        AdoptedThread<InOrderExecutor> thread;
        for (std::uint32_t lp = 0; lp < run.plan.setup.lps; ++lp) {
            const Partition::Position position = run.plan.partition.position(lp);
            InOrderExecutor& executor =
                *executors[run.plan.partition.first_owner(position.group).worker];
            thread.adopt(executor);
            executor.run_on_end(world.groups[position.group]->lps[position.index], result.end_time);
        }
    }
    for (std::uint32_t w = 0; w < workers; ++w) {
        add_digest(executors[w]->groups(), result.digest);
        tallies[w].counters = executors[w]->counters();
        tallies[w].groups = &executors[w]->groups();
        report_worker(result, run.places, w, tallies[w]);
    }
    for (const auto& executor : executors) {
        const AdoptedThread adopted(*executor);
        executor->destroy_lps();
    }
}

}  // namespace nw
