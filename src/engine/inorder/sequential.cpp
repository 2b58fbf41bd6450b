// SPDX-License-Identifier: Apache-2.0
// The sequential engine: the reference for all other engines, and the fastest way to run a model on
// one core. It always executes the event with the smallest key, irrevocably. The run can be saved
// between two batches of events.

#include "engine/inorder/sequential.hpp"

#include <barrier>
#include <cmath>
#include <exception>

#include "engine/checked/checked_run.hpp"
#include "engine/engine_run.hpp"
#include "engine/handler_watch.hpp"
#include "engine/inorder/in_order_executor.hpp"
#include "engine/run_saver.hpp"
#include "engine/saved_worker.hpp"
#include "engine/worker_start.hpp"
#include "memory/region/shared_arena.hpp"
#include "results/statistics/stopwatch.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

// The number of events between two checks of the stop signal and of the memory in use. At each
// check, the figures of the progress line are also updated.
constexpr std::uint64_t events_per_check = 2048;
constexpr std::uint64_t events_per_check_checked = 64;

class SequentialRun final : private SavedWorker, private SavedRank {
  public:
    explicit SequentialRun(EngineRun& run)
        : run_(run),
          world_(run.plan, run.memory, run.output, nullptr),
          executor_(world_, 0),
          saver_(run, *this, {this}, alone_),
          watch_(run.plan, {&executor_}, run.progress, run.stop_signal) {}

    void run() {
        run_worker_threads(
            run_.memory.os(), run_.places, [this](std::uint32_t) { work(); }, run_.result.notices);
        tally_.counters = executor_.counters();
        tally_.figures = executor_.figures();
        tally_.groups = &executor_.groups();
        report_worker(run_.result, run_.places, 0, tally_);
        // The groups are already empty, because their LPs have been destroyed.
        run_.result.workers.back().lps = run_.plan.rules.lps;
        run_.result.history = history_.samples();
        run_.result.segments_bytes = run_.memory.segment_bytes();
    }

  private:
    // Executes the whole run. Thread: the worker's thread.
    void work() {
        const AdoptedThread adopted(executor_);
        start_worker(run_.model);
        if (checked_ != nullptr) checked_->before_building();
        executor_.set_up();
        if (checked_ != nullptr) checked_->after_building();
        if (run_.plan.config.protect_shared) shared_.begin();
        begin_output(run_);
        executor_.start([] {});
        meter_phase<MeterPhase::execute>();
        execute();
        meter_phase<MeterPhase::ending>();
        report_end();
        executor_.hand_over_output(time_infinity);
        run_.output.finish();
        if (run_.result.reason != EndReason::interrupted) {
            const LiveProgress::Unstoppable phase(run_.progress, in_on_end);
            run_.result.measures.intervals() += *executor_.intervals();
            for (std::uint32_t lp = 0; lp < run_.plan.rules.lps; ++lp)
                executor_.run_on_end(world_.lp(lp), run_.result.end_time, run_.result.measures);
        }
        report_lps(run_.result, executor_.groups());
        shared_.end();
        if (checked_ != nullptr) checked_->end();
        executor_.destroy_lps(run_.stop_signal);
    }

    void execute() {
        const ThreadCounters counters(run_.memory.os(), run_.plan.config.hardware_counters);
        const Stopwatch stopwatch = begin_progress(run_, history_);
        saver_.begin(stopwatch);
        while (!execute_until_still() && run_.plan.config.save.on()) {
            executor_.hand_over_all_output(executor_.last_time());
            saver_.save(0);
            if (failure_ != nullptr) std::rethrow_exception(failure_);
            if (ended_by_signal_) break;
        }
        run_.result.wall_seconds = stopwatch.wall_seconds();
        tally_.busy_seconds = stopwatch.thread_cpu_seconds();
        tally_.hardware = counters.counts();
    }

    bool is_over() { return executor_.all_ended() || executor_.next_time() >= run_.plan.until; }

    // Executes events until the run is over, a signal has arrived, or the run is to be saved.
    // Returns whether the run is over.
    bool execute_until_still() {
        auto now = Clock::now();
        while (!is_over() && run_.stop_signal.load(std::memory_order_relaxed) == 0 &&
               now < save_due_) {
            executor_.run(run_.plan.until,
                          checked_ != nullptr ? events_per_check_checked : events_per_check);
            now = Clock::now();
            if (checked_ != nullptr &&
                checked_->is_enough(executor_.counters()[Counter::executed_events]))
                break;
            executor_.apply_memory_pressure(now);
            executor_.hand_over_output(executor_.last_time());
            report_progress(now);
        }
        if (!is_over() && checked_ == nullptr) finish_time();
        return is_over();
    }

    // Executes the remaining events of the present virtual time, so that an interrupted run has
    // executed either all events of a virtual time or none of them. The exception is a chain of
    // zero delays that does not end within stop_patience.
    void finish_time() {
        const VirtualTime next = std::nextafter(executor_.last_time(), time_infinity);
        const auto end = Clock::now() + stop_patience;
        while (executor_.next_time() < next && !executor_.all_ended() && Clock::now() < end)
            executor_.run(next, events_per_check);
    }

    // --- Saving ---

    AddressRange stack() const noexcept override { return executor_.stack(); }
    void save_at(Clock::time_point time) noexcept override { save_due_ = time; }
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) override {
        return executor_.save(file, file_number, map, executor_.next_time());
    }
    void resume() noexcept override {}
    void end_interrupted() noexcept override { ended_by_signal_ = true; }
    bool cannot_continue() const noexcept override { return failure_ != nullptr; }
    void fail_now() noexcept override { failure_ = std::current_exception(); }
    int signal_to_end() const noexcept override {
        return run_.stop_signal.load(std::memory_order_relaxed);
    }
    const RunHistory& history() const noexcept override { return history_; }

    void report_progress(Clock::time_point now) {
        const std::uint64_t executed = executor_.counters()[Counter::executed_events];
        run_.progress.gvt.store(executor_.last_time(), std::memory_order_relaxed);
        run_.progress.committed_events.store(executed, std::memory_order_relaxed);
        run_.progress.executed_events.store(executed, std::memory_order_relaxed);
        if (history_.is_due(now))
            history_.add(now, {.gvt = executor_.last_time(),
                               .committed_events = executed,
                               .executed_events = executed,
                               .resident_bytes = world_.budget.used_bytes()});
    }

    void report_end() {
        RunResult& result = run_.result;
        const VirtualTime until = run_.plan.until;
        if (executor_.all_ended()) {
            result.reason = EndReason::all_can_end;
            result.end_time = executor_.last_time();
        } else if (executor_.next_time() < until) {
            result.reason = EndReason::interrupted;
            result.end_time = executor_.next_time();
            if (tally_.counters[Counter::executed_events] > 0 &&
                result.end_time == executor_.last_time())
                note_split_time(result);
        } else {
            const bool ran_dry = !executor_.dropped_beyond_end();
            result.reason = ran_dry ? EndReason::no_events : EndReason::until;
            result.end_time = until == time_infinity ? executor_.last_time() : until;
        }
    }

    EngineRun& run_;
    CheckedRun* const checked_ = run_.plan.config.checked;
    InOrderWorld world_;
    InOrderExecutor executor_;
    SharedArena::ReadOnly shared_;  // read-only until the first destructor of an LP
    WorkerTally tally_;
    RunHistory history_;
    std::barrier<> alone_{1};
    RunSaver saver_;
    Clock::time_point save_due_ = Clock::time_point::max();
    bool ended_by_signal_ = false;
    std::exception_ptr failure_;
    HandlerWatch watch_;
};

}  // namespace

void run_sequential(EngineRun& run) { SequentialRun(run).run(); }

}  // namespace nw
