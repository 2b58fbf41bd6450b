// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/worker.hpp"

#include <algorithm>
#include <optional>

#include "engine/timewarp/worker/executor.hpp"
#include "engine/timewarp/worker/handovers.hpp"
#include "engine/timewarp/worker/housekeeping.hpp"
#include "engine/timewarp/worker/pauses.hpp"
#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/sends.hpp"
#include "engine/timewarp/worker/worker_check.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "plan/engine_trial.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/run_history.hpp"
#include "results/statistics/run_result.hpp"
#include "results/statistics/worker_tally.hpp"
#include "util/check.hpp"
#include "util/handoff.hpp"

namespace nw {
namespace {

// Groups stay on their ranks during the trial, so that another engine finds them there.
void request_pause(WorkerCore& core, Standstill& standstill, const Contribution& sums) {
    EngineTrial* const trial = core.rank.trial();
    if (standstill.is_leave_due()) return;
    if (trial != nullptr && !trial->is_over()) {
        if (trial->leaves_timewarp(core.now, sums.committed)) standstill.leave_soon();
    } else if (core.rank.balance().is_due(sums, core.now)) {
        standstill.move_soon();
    }
}

// Called by worker 0 of each rank for each new GVT.
void report_progress(WorkerCore& core, Standstill& standstill, const GvtResult& result) {
    const bool is_first = core.self.rank == 0;
    if (is_first) ++core.counters[Counter::gvt_rounds];
    if (is_first) request_pause(core, standstill, result.sums);
    const VirtualTime gvt = std::min(core.gvt, core.plan.until);
    LiveProgress& progress = core.rank.progress();
    progress.gvt.store(gvt, std::memory_order_relaxed);
    if (core.plan.setup.on_gvt) core.plan.setup.on_gvt(gvt);
    progress.executed_events.store(result.sums.executed, std::memory_order_relaxed);
    progress.committed_events.store(result.sums.committed, std::memory_order_relaxed);
    if (!is_first || !core.rank.history().is_due(core.now)) return;
    core.rank.history().add(core.now, {.gvt = gvt,
                                       .committed_events = result.sums.committed,
                                       .executed_events = result.sums.executed,
                                       .rolled_back_events = result.sums.rolled_back,
                                       .gvt_rounds = core.counters[Counter::gvt_rounds],
                                       .resident_bytes = result.sums.resident_bytes,
                                       .window = result.window});
}

}  // namespace

Worker::Worker(Rank& rank, WorkerId id)
    : core_(rank, id),
      sends_(std::make_unique<Sends>(core_, throttle_, ending_)),
      rollbacks_(std::make_unique<Rollbacks>(core_, committer_, *sends_, ending_)),
      executor_(
          std::make_unique<Executor>(core_, throttle_, committer_, ending_, *sends_, *rollbacks_)),
      handovers_(std::make_unique<Handovers>(core_, committer_, ending_)),
      pauses_(std::make_unique<Pauses>(core_, throttle_, safe_horizon_, committer_, ending_,
                                       standstill_, *rollbacks_)),
      housekeeping_(std::make_unique<Housekeeping>(core_, throttle_)) {}

Worker::~Worker() = default;

bool Worker::turn(Clock::time_point now, bool is_carried) {
    if (standstill_.is_at_rest()) return false;
    core_.now = now;
    core_.marks.begin(now);
    core_.marks.mail_phase();
    core_.is_expecting = !core_.plan.config.net_thread && core_.rank.net_step(now, core_.marks);
    if (!is_carried) housekeeping_->relocate();
    on_gvt();
    if (handovers_->is_awaiting()) handovers_->take_over();
    core_.marks.mail_phase();
    // Mail is read in every turn, after the result of a round and before groups are handed over.
    // The reason is that a group's new worker may already execute up to the horizon of this round
    // (src/engine/timewarp/worker/rebinding.pml).
    bool worked = inbox().drain();
    worked |= core_.rank.is_congested() ||
              (standstill_.phase() == Standstill::Phase::running && executor_->execute_batch());
    core_.marks.mail_phase();
    sends_->outboxes().flush(false);
    cut();
    core_.marks.commit_phase();
    const bool committed = committer_.step(housekeeping_->is_memory_low());
    core_.marks.committed_events(core_.counters[Counter::committed_events]);
    if (committed && committer_.is_done()) housekeeping_->sample_memory_if_due();
    core_.marks.mark(TraceKind::commit, committed ? 1 : 0);
    core_.marks.gvt_phase();
    housekeeping_->reclaim_memory();
    if (handovers_->is_leaving() && committer_.is_done()) hand_over();
    if (committer_.is_done()) standstill_.settle();
    worked |= committed;
    if (!worked) {
        // Only a new GVT or mail can give the worker something to do.
        ++core_.counters[Counter::idle_turns];
        core_.rank.gvt().request_round();
        core_.marks.mark(TraceKind::idle, 1);
    }
    if constexpr (paranoid) check().after_turn();
    return worked;
}

bool Worker::may_sleep() const noexcept {
    const bool has_cut = core_.epochs.epoch() != core_.epochs.seen();
    return has_cut && !core_.is_expecting;
}

bool Worker::has_work() {
    return core_.rank.has_work(core_.self.worker, core_.epochs.seen(), core_.marks);
}

bool Worker::needs_own_thread() const noexcept { return housekeeping_->has_orders(); }

// --- GVT -----------------------------------------------------------------------------------------

void Worker::on_gvt() {
    core_.marks.gvt_phase();
    if (core_.epochs.seen() == core_.rank.gvt().done()) return;
    note_handoff(Handoff::result_read);
    const GvtResult& result = core_.rank.gvt().result();
    core_.epochs.learn(result.sums);
    NW_CHECK(result.gvt >= core_.gvt);
    core_.gvt = result.gvt;
    core_.irrevocable_before = result.bound();
    rollbacks_->deferrals().run_irrevocable(result.sums);
    if (core_.self.worker == 0) report_progress(core_, standstill_, result);
    switch (standstill_.phase()) {
        case Standstill::Phase::running:
            advance(result);
            break;
        case Standstill::Phase::pausing:
            pauses_->on_gvt(result);
            break;
        default:
            standstill_.on_gvt(result.quiesced);
    }
}

void Worker::advance(const GvtResult& result) {
    if (result.sums.failed()) [[unlikely]] {
        // All workers of all ranks commit everything before the failed event, because an earlier
        // event may fail, too. Then they leave the event loop, and the ranks agree on the earliest
        // failure (TimeWarpRun::agree_on_failure()).
        committer_.begin(result.sums.failed_at);
        standstill_.begin_end();
        standstill_.wait_for_nothing();
        return;
    }
    // All workers evaluate the same result, so they all stop at the same round.
    const bool is_to_stop = (result.sums.stop != 0 || result.sums.save != 0 ||
                             result.sums.move != 0 || result.sums.leave != 0) &&
                            safe_horizon_.try_stop(result);
    sends_->outboxes().on_gvt();
    safe_horizon_.on_gvt(result, handovers_->are_planned());
    throttle_.on_gvt(result, core_.safe_before.time);
    housekeeping_->on_gvt(result.sums.events_ahead);
    const bool is_over =
        ending_.on_gvt(result, committer_,
                       is_to_stop ? std::optional(safe_horizon_.stop_bound(result)) : std::nullopt);
    if (is_over) {
        committer_.begin(ending_.final_bound());
        standstill_.begin_end();
        return;
    }
    committer_.resume(ending_.final_bound());
    // With an end condition, GVT may already have reached the end; then the next round ends the
    // run.
    if (is_to_stop && core_.gvt < core_.plan.until) {
        executor_->forget_ahead();
        pauses_->begin(result);
    } else {
        handovers_->on_gvt();
    }
}

void Worker::cut() {
    core_.marks.gvt_phase();
    GvtRounds& rounds = core_.rank.gvt();
    const bool open = rounds.opened() != core_.epochs.epoch();
    if (!open || core_.epochs.epoch() != core_.epochs.seen() || standstill_.nothing_in_flight())
        return;
    if (handovers_->is_under_way()) return;
    sends_->outboxes().flush(true);
    GvtRounds::Part& part = rounds.slot(core_.self.worker);
    sends_->outboxes().batches().take_batches_sent(part.sent);
    if (core_.rank.rebinding().wants_backlogs(rounds.opened())) handovers_->note_backlogs();
    Contribution& sums = part.sums;
    sums = {};
    const PendingEntry* top = core_.pending.top();
    core_.epochs.cut(top != nullptr ? top->bound() : EventBound(), sums);
    sums.deferred = rollbacks_->deferrals().first();
    sums.lead = core_.lead.time;
    pauses_->contribute(sums);
    ending_.contribute(sums);
    safe_horizon_.contribute(sums);
    standstill_.contribute(sums);
    sums.events_ahead = housekeeping_->events_ahead_max();
    core_.rank.contribute(core_.self.worker, sums);
    note_handoff(Handoff::cut_made);
    rounds.arrive(core_.self.worker);
    executor_->suggest_round_after(core_.plan.config.gvt_interval_events);
    core_.marks.mark(TraceKind::cut, 1);
}

void Worker::hand_over() {
    const std::vector<std::uint32_t> new_workers = handovers_->new_workers();
    rollbacks_->deferrals().give_back(new_workers);
    executor_->forget_ahead();
    handovers_->hand_over(new_workers);
}

// --- Outside of the turns ------------------------------------------------------------------------

void Worker::finalize() {
    housekeeping_->sample_memory();
    lps().finalize();
}

LpStages Worker::lps() noexcept {
    return {core_, committer_, ending_, *sends_, *rollbacks_, inbox()};
}

RunEnd Worker::end() const noexcept {
    return {.reason = ending_.reason(),
            .time = ending_.time(),
            .splits_time = ending_.splits_time(),
            .last_commit = committer_.last_committed_time()};
}

void Worker::report(WorkerTally& tally) const noexcept {
    tally.counters = core_.counters;
    tally.figures = core_.figures;
    tally.groups = &core_.groups;
}

void Worker::add_sent_to(std::vector<std::uint64_t>& sums) const {
    sends_->outboxes().batches().add_sent_to(sums);
}

const MemoryKinds& Worker::memory_kinds() const noexcept { return housekeeping_->memory_kinds(); }

std::uint64_t Worker::validate() { return check().everything(); }

WorkerCheck Worker::check() noexcept {
    return {core_, throttle_, committer_, ending_, standstill_, *sends_, *rollbacks_};
}

}  // namespace nw
