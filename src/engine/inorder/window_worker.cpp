// SPDX-License-Identifier: Apache-2.0
#include "engine/inorder/window_worker.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/checkpoint/saved_group.hpp"
#include "plan/engine_trial.hpp"
#include "plan/run_plan.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/run_history.hpp"
#include "results/statistics/run_result.hpp"
#include "results/statistics/worker_tally.hpp"
#include "util/handoff.hpp"

namespace nw {
namespace {

// Events between two checks of the network and of the memory in use.
constexpr std::uint64_t batch_events = 2048;
// With several ranks, the number is smaller, because a reduction takes as long as some hundred
// events.
constexpr std::uint64_t batch_events_of_ranks = 256;

// A request to stop or to save waits for two cuts. The two cuts take at most a fifth of the two
// seconds that a stop may take.
constexpr std::chrono::milliseconds cut_interval_max(200);
// The interval between cuts of a worker that is alone. A cut takes a microsecond.
constexpr std::chrono::milliseconds cut_interval_alone(1);

}  // namespace

WindowWorker::WindowWorker(WindowRank& rank, WorkerId self)
    : rank_(rank),
      self_(index(self)),
      measures_(is_first() && !rank.plan().is_alone()),
      executor_(rank.world(), self_) {}

// Runs `step`. A failure is recorded in the rank, so that all workers receive the failure before it
// ends the run.
template <class Step>
void WindowWorker::attempt(Step&& step) noexcept {
    try {
        if (!failed_) step();
        return;
    } catch (const ModelError& error) {
        rank_.fail_in_model(executor_.at(), error.what());
    } catch (...) {
        rank_.fail(std::current_exception());
    }
    failed_ = true;
}

void WindowWorker::start() {
    executor_.start([this] { rank_.net_step(); });
}

bool WindowWorker::turn(Clock::time_point now, bool /*is_carried*/) {
    marks_.gvt_phase();
    if (is_idle_) waited_ += now - last_turn_;
    last_turn_ = now;
    is_idle_ = false;
    is_expecting_ = rank_.net_step();
    bool worked = learn(now);
    if (finished() || paused()) return true;
    if (is_cut_overdue(now)) {
        cut(now);
        return true;
    }
    if (execute(now)) return true;
    // A turn that executed events does not cut: `now` was read before these events, and cut() needs
    // the present time for its measurements.
    if (reached_ >= cut_at_ && !has_cut()) {
        cut(now);
        return true;
    }
    if (!worked) note_idle(now);
    return worked;
}

void WindowWorker::note_idle(Clock::time_point now) {
    ++executor_.counters()[Counter::idle_turns];
    is_idle_ = true;
    if (measures_) overlap_.on_idle(now);
    // HandlerWatch reports a handler of this rank that does not return, but it does not observe
    // other ranks. Therefore this worker reports a window that is not complete.
    const std::chrono::duration<double> patience(rank_.plan().config.watchdog_seconds);
    if (self_ != 0 || rank_.plan().ranks == 1 || patience.count() <= 0 || has_warned_) return;
    if (now - waiting_since_ < patience || !rank_.progress().warn) return;
    has_warned_ = true;
    rank_.progress().warn(fmt::format("window {} is not complete after {} s: {}",
                                      seen_ - first_window, patience.count(), rank_.waiting_for()));
}

bool WindowWorker::has_work() noexcept {
    bool has = true;
    attempt([&] { has = rank_.has_work(self_, seen_); });
    return has;
}

bool WindowWorker::learn(Clock::time_point now) {
    if (rank_.rounds().done() == seen_) return false;
    ++seen_;
    note_handoff(Handoff::result_read);
    const WindowSums& sums = result();
    if (self_ == 0) report_progress(sums, now);
    if (is_first() && rank_.trial() != nullptr) consider_leaving(sums, now);
    marks_.mail_phase();
    attempt([&] { executor_.fetch_mail(); });
    if (ending_ == Ending::catching_up || (sums.earliest >= rank_.plan().until && !sums.failed())) {
        end_or_pause(sums, now);
    } else if (ending_ == Ending::stopping || sums.is_last()) {
        begin_ending(sums, now);
    } else {
        attempt([&] { begin_window(sums.earliest, sums.overlap, now); });
    }
    return true;
}

void WindowWorker::consider_leaving(const WindowSums& sums, Clock::time_point now) {
    leave_ = leave_ || rank_.trial()->leaves_conservative(now, sums.committed,
                                                          std::chrono::nanoseconds(sums.waited_ns),
                                                          !sums.is_memory_short);
}

// After a failure, all workers execute every event before the horizon, because an earlier event may
// fail, too.
void WindowWorker::begin_ending(const WindowSums& sums, Clock::time_point now) {
    if (ending_ == Ending::none && !sums.failed()) {
        ending_ = Ending::stopping;
        stalled_since_ = now;
        horizon_ = reached_;
    } else {
        const VirtualTime latest =
            sums.failed() ? std::max(sums.last_time, sums.failed_at.time) : sums.last_time;
        if (ending_ == Ending::stopping) horizon_ = std::nextafter(latest, time_infinity);
        ending_ = Ending::catching_up;
        stalled_since_ = now;
    }
    cut_at_ = horizon_;
}

// A chain of events with zero delay that an LP schedules for itself may have no end.
bool WindowWorker::is_out_of_patience(Clock::time_point now) const noexcept {
    return ending_ == Ending::catching_up && now - stalled_since_ > stop_patience &&
           !rank_.model_failed();
}

void WindowWorker::end_or_pause(const WindowSums& sums, Clock::time_point now) {
    ending_ = Ending::none;
    // Another engine could not continue between two events of one time. The request to leave
    // remains.
    const bool is_split = sums.earliest <= sums.last_time;
    if (purpose().leave && is_split && !sums.failed() && sums.earliest < rank_.plan().until) {
        attempt([&] { begin_window(sums.earliest, sums.overlap, now); });
        return;
    }
    const bool is_to_pause = rank_.plan().config.save.on() || (sums.leave && sums.stop == 0);
    paused_ = is_to_pause && !sums.failed() && sums.earliest < rank_.plan().until;
    finished_ = !paused_;
    if (paused_) attempt([&] { executor_.hand_over_all_output(horizon_); });
    if (paused_ && failed_) rank_.stop();
}

SavedPart WindowWorker::save(SectionWriter& file, std::uint32_t file_number,
                             const AddressMap& map) {
    return executor_.save(file, file_number, map, paused_at());
}

// If the run is also to be saved, it is saved first, and the request to leave remains.
WindowWorker::PausePurpose WindowWorker::purpose() const noexcept {
    const WindowSums& sums = result();
    const bool leaves = sums.leave && !sums.save && sums.stop == 0;
    return {.save = !leaves, .leave = leaves};
}

void WindowWorker::resume() noexcept {
    paused_ = false;
    overlap_ = {};  // the present measurements include the pause
    const WindowSums& sums = result();
    attempt([&] { begin_window(sums.earliest, sums.overlap, Clock::now()); });
}

void WindowWorker::end_interrupted() noexcept {
    paused_ = false;
    finished_ = true;
}

RunEnd WindowWorker::end() const noexcept {
    const WindowSums& sums = result();
    const VirtualTime until = rank_.plan().until;
    const bool is_interrupted = sums.earliest < until;
    const EndReason reason = is_interrupted ? EndReason::interrupted
                             : sums.dropped ? EndReason::until
                                            : EndReason::no_events;
    return {.reason = reason,
            .time = std::min(sums.earliest, until),
            .splits_time = is_interrupted && sums.executed > 0 && sums.earliest <= sums.last_time,
            .last_commit = executor_.last_time()};
}

void WindowWorker::report(WorkerTally& tally) noexcept {
    tally.counters = executor_.counters();
    tally.figures = executor_.figures();
    tally.groups = &executor_.groups();
}

// A worker that is alone needs no windows; it cuts after each cut_interval_alone.
VirtualTime WindowWorker::lookahead() const noexcept {
    return rank_.plan().is_alone() ? time_infinity : rank_.plan().setup.lookahead;
}

void WindowWorker::begin_window(VirtualTime earliest, double overlap, Clock::time_point now) {
    const VirtualTime horizon = std::min(rank_.plan().until, earliest + lookahead());
    if (!(horizon > earliest))
        throw ModelError(
            fmt::format("at time {} the declared lookahead of {} is lost in rounding; allowed: a "
                        "lookahead that is large enough to change this time, or --engine timewarp",
                        earliest, lookahead()));
    if (measures_) overlap_.on_result(now, (horizon - horizon_) / lookahead());
    window_began_ = now;
    horizon_ = horizon;
    cut_at_ = horizon - overlap * (horizon - earliest);
    if (!(cut_at_ > earliest)) cut_at_ = horizon;  // rounding has lost the difference
}

// Requests to stop and to save are sent with the cuts, but a window may last for hours.
bool WindowWorker::is_cut_overdue(Clock::time_point now) const noexcept {
    const auto interval = rank_.plan().is_alone() ? cut_interval_alone : cut_interval_max;
    return ending_ == Ending::none && !has_cut() && now - window_began_ > interval;
}

bool WindowWorker::execute(Clock::time_point now) {
    const VirtualTime bound = has_cut() ? horizon_ : cut_at_;
    if (reached_ >= bound) return false;
    if (is_out_of_patience(now)) {
        reached_ = bound;
        return false;
    }
    marks_.execute_phase();
    const std::uint64_t batch = rank_.plan().ranks == 1 ? batch_events : batch_events_of_ranks;
    attempt([&] {
        executor_.run(bound, batch);
        executor_.apply_memory_pressure(now);
    });
    if (failed_ || !(executor_.next_time() < bound))
        reached_ = bound;
    else if (rank_.plan().is_alone())
        reached_ = executor_.next_time();  // no other worker sends an event for an earlier time
    if (executor_.last_time() > stalled_time_) {
        stalled_time_ = executor_.last_time();
        stalled_since_ = now;
    }
    marks_.mail_phase();
    attempt([&] {
        executor_.hand_over_output(reached_);
        executor_.mail().publish();
    });
    return true;
}

void WindowWorker::cut(Clock::time_point now) {
    WindowRounds::Part& slot = rank_.rounds().slot(self_);
    WindowSums& sums = slot.sums;
    sums = {};
    executor_.mail().flush();  // even after a failure: other ranks wait for counted batches
    sums.earliest = std::min(executor_.next_time(), executor_.mail().cut(slot.sent));
    sums.last_time = executor_.last_time();
    const Counters& counters = executor_.counters();
    sums.executed = counters[Counter::executed_events];
    sums.committed = counters[Counter::committed_events];
    sums.rolled_back = counters[Counter::rolled_back_events];
    sums.waited_ns = std::chrono::nanoseconds(waited_).count();
    if (self_ == 0) {
        const MemoryBudget& budget = rank_.world().budget;
        sums.resident_bytes = budget.used_bytes();
        sums.is_memory_short = budget.used_bytes() > budget.cap_bytes() / 2;
    }
    if (measures_) {
        overlap_.on_cut(now);
        sums.overlap = overlap_.share();
    }
    if (rank_.model_failed()) {
        sums.failed_at = rank_.model_failed_at();
        sums.failed_rank = index(rank_.id());
    }
    sums.stop = rank_.stop_signal();
    sums.save = now >= save_due_;
    sums.leave = leave_;
    sums.dropped = executor_.dropped_beyond_end();
    ++cut_;
    waiting_since_ = now;
    has_warned_ = false;
    marks_.gvt_phase();
    note_handoff(Handoff::cut_made);
    if (rank_.rounds().arrive(self_)) rank_.begin_reduction();
}

void WindowWorker::report_progress(const WindowSums& sums, Clock::time_point now) {
    if (is_first()) ++executor_.counters()[Counter::gvt_rounds];
    const VirtualTime gvt = std::min(sums.earliest, rank_.plan().until);
    LiveProgress& progress = rank_.progress();
    progress.gvt.store(gvt, std::memory_order_relaxed);
    progress.committed_events.store(sums.committed, std::memory_order_relaxed);
    progress.executed_events.store(sums.executed, std::memory_order_relaxed);
    if (!is_first() || !rank_.history().is_due(now)) return;
    rank_.history().add(now, {.gvt = gvt,
                              .committed_events = sums.committed,
                              .executed_events = sums.executed,
                              .rolled_back_events = sums.rolled_back,
                              .gvt_rounds = executor_.counters()[Counter::gvt_rounds],
                              .resident_bytes = sums.resident_bytes});
}

}  // namespace nw
