// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/worker.hpp"

#include <algorithm>

#include "engine/timewarp/parts/handovers.hpp"
#include "engine/timewarp/parts/memory_relief.hpp"
#include "engine/timewarp/parts/memory_sampler.hpp"
#include "engine/timewarp/parts/relocation.hpp"
#include "engine/timewarp/parts/worker_core_inline.hpp"
#include "event/look_ahead.hpp"
#include "event/short_events.hpp"
#include "plan/engine_trial.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/run_history.hpp"
#include "util/check.hpp"
#include "util/handoff.hpp"

namespace nw {

Worker::Worker(Rank& rank, WorkerId id)
    : EventSink(rank.plan().rules, rank.plan().config.seed),
      core_(rank, id),
      memory_relief_(std::make_unique<MemoryRelief>(core_)),
      short_(std::make_unique<ShortEvents>(core_.plan.until, core_.plan.rules.lookahead,
                                           core_.plan.rules.payload_bytes_max)),
      handovers_(std::make_unique<Handovers>(core_, pending_, *short_, committer_, ending_)),
      relocation_(std::make_unique<Relocation>(core_)),
      ahead_(std::make_unique<LookAhead>(core_.plan.config.seed)),
      guess_(LookAhead::none),
      may_interrupt_(!core_.plan.some_roll_back_by(Rollback::reverse) && !core_.plan.is_alone()),
      draws_interruptions_(may_interrupt_ && core_.plan.config.check_interrupt > 0),
      draws_rollbacks_(core_.plan.config.check_rollback > 0),
      is_alone_(core_.plan.is_alone()),
      is_plain_(!draws_interruptions_ && !draws_rollbacks_ &&
                core_.plan.config.checked == nullptr && core_.intervals == nullptr &&
                !core_.plan.kinds.has_commit() && !core_.plan.kinds.has_end_condition()),
      safe_entry_bytes_(std::make_unique<std::byte[]>(core_.stride)),
      until_timed_(rank.rebinding().on() || core_.plan.kinds.counts_events() ? events_between_timed
                                                                             : 0),
      memory_sampler_(std::make_unique<MemorySampler>()) {}

Worker::~Worker() = default;

bool Worker::turn(Clock::time_point now) {
    if (standstill_.is_at_rest()) return false;
    core_.now = now;
    marks_.begin(now);
    marks_.mail_phase();
    is_expecting_ = !core_.plan.config.net_thread && core_.rank.net_step(now, marks_);
    relocation_->step();
    on_gvt();
    // The jump out of a handler that crashed or was interrupted ends here, and the turn continues.
    // The handler's stack frames are gone; core_.running describes its call.
    if (sigsetjmp(core_.guard.env(), 0) != 0) leave_crashed();
    if (handovers_->is_awaiting()) handovers_->take_over();
    marks_.mail_phase();
    // In every turn, after the round was learned and before groups are handed over: a group's new
    // worker may already execute up to that round's horizon
    // (src/engine/timewarp/parts/rebinding.pml).
    bool worked = drain_mail();
    worked |= core_.rank.is_congested() || execute_batch();
    marks_.mail_phase();
    outboxes_.flush(false);
    cut();
    worked |= commit();
    marks_.gvt_phase();
    relieve_memory();
    if (handovers_->is_leaving() && committer_.is_done()) hand_over();
    if (committer_.is_done()) standstill_.settle();
    if (!worked) note_idle();
    if constexpr (paranoid) check_turn();
    return worked;
}

// Only a new GVT or mail can give the worker something to do, so it requests a round.
void Worker::note_idle() {
    ++core_.counters[Counter::idle_turns];
    core_.rank.gvt().want_round();
    marks_.mark(TraceKind::idle, 1);
}

bool Worker::may_sleep() const noexcept {
    const bool has_cut = core_.epochs.epoch() != core_.epochs.seen();
    return has_cut && !is_expecting_ && core_.rank.may_sleep(core_.self.worker);
}

void Worker::sleep() {
    const auto begun = Clock::now();
    core_.rank.sleep(core_.self.worker, core_.epochs.seen(), throttle_.horizon(), marks_);
    asleep_seconds_ += std::chrono::duration<double>(Clock::now() - begun).count();
    marks_.mark(TraceKind::idle, 1);
}

// --- GVT -----------------------------------------------------------------------------------------

void Worker::on_gvt() {
    marks_.gvt_phase();
    if (core_.epochs.seen() == core_.rank.gvt().done()) return;
    note_handoff(Handoff::result_read);
    const GvtResult& result = core_.rank.gvt().result();
    core_.epochs.learn(result.sums);
    NW_CHECK(result.gvt >= core_.gvt);
    core_.gvt = result.gvt;
    core_.irrevocable_before = result.bound();
    run_irrevocable_deferred(result.sums);
    if (core_.self.worker == 0) report_progress(result);
    switch (standstill_.phase()) {
        case Standstill::Phase::running:
            advance(result);
            break;
        case Standstill::Phase::pausing:
            pause_on_gvt(result);
            break;
        default:
            standstill_.on_gvt(result.quiesced);
    }
}

// All workers of all ranks commit everything before the failed event, because an earlier event may
// fail, too. Then they leave the event loop, and the ranks agree on the earliest failure
// (TimeWarpRun::agree_on_failure()).
void Worker::end_failed(const EventKey& failed_at) {
    committer_.begin(failed_at);
    standstill_.begin_end();
    standstill_.wait_for_nothing();
}

void Worker::advance(const GvtResult& result) {
    if (result.sums.failed()) [[unlikely]] {
        end_failed(result.sums.failed_at);
        return;
    }
    // All workers evaluate the same result, so they all stop at the same round.
    const bool is_to_stop = (result.sums.stop != 0 || result.sums.save != 0 ||
                             result.sums.move != 0 || result.sums.leave != 0) &&
                            safe_horizon_.may_stand_still(result);
    outboxes_.on_gvt();
    safe_horizon_.on_gvt(result, handovers_->are_planned());
    throttle_.on_gvt(result, core_.safe_before.time);
    plan_quota(result);
    const bool is_over =
        ending_.on_gvt(result, committer_,
                       is_to_stop ? std::optional(safe_horizon_.stop_bound(result)) : std::nullopt);
    if (is_over) {
        committer_.begin(ending_.final_bound());
        standstill_.begin_end();
        return;
    }
    committer_.go_on(ending_.final_bound());
    // With an end condition, GVT may already have reached the end; then the next round ends the
    // run.
    if (is_to_stop && core_.gvt < core_.plan.until)
        begin_pause(result);
    else
        handovers_->on_gvt();
}

// Groups stay on their ranks during the trial, so that another engine finds them there.
void Worker::ask_for_pause(const GvtResult& result) {
    EngineTrial* const trial = core_.rank.trial();
    if (standstill_.is_leave_due()) return;
    if (trial != nullptr && !trial->is_over()) {
        if (trial->leaves_timewarp(core_.now, result.sums.committed)) standstill_.leave_soon();
    } else if (core_.rank.balance().is_due(result.sums, core_.now)) {
        standstill_.move_soon();
    }
}

void Worker::report_progress(const GvtResult& result) {
    const bool is_first = core_.self.rank == 0;
    if (is_first) ++core_.counters[Counter::gvt_rounds];
    if (is_first) ask_for_pause(result);
    const VirtualTime gvt = std::min(core_.gvt, core_.plan.until);
    LiveProgress& progress = core_.rank.progress();
    progress.gvt.store(gvt, std::memory_order_relaxed);
    if (core_.plan.setup.on_gvt) core_.plan.setup.on_gvt(gvt);
    progress.executed_events.store(result.sums.executed, std::memory_order_relaxed);
    progress.committed_events.store(result.sums.committed, std::memory_order_relaxed);
    if (!is_first || !core_.rank.history().is_due(core_.now)) return;
    core_.rank.history().add(core_.now, {.gvt = gvt,
                                         .committed_events = result.sums.committed,
                                         .executed_events = result.sums.executed,
                                         .rolled_back_events = result.sums.rolled_back,
                                         .gvt_rounds = core_.counters[Counter::gvt_rounds],
                                         .resident_bytes = result.sums.resident_bytes,
                                         .window = result.window});
}

// If memory is short, limits the events beyond GVT to the number that the worker with the least
// room, on any rank, may hold: events that one worker executes send events into the memory of other
// workers.
void Worker::plan_quota(const GvtResult& result) {
    const std::uint64_t uncommitted = events_uncommitted();
    memory_relief_->on_gvt(uncommitted, pending_.size());
    const std::uint32_t held_max =
        std::min(memory_relief_->events_ahead_max(), result.sums.events_ahead);
    if (held_max == Throttle::unlimited) [[likely]]
        return;
    throttle_.set_quota(held_max -
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(held_max, uncommitted)));
}

std::uint64_t Worker::events_uncommitted() const noexcept {
    const auto ahead = static_cast<std::int64_t>(core_.counters[Counter::executed_events] -
                                                 core_.counters[Counter::rolled_back_events] -
                                                 core_.counters[Counter::committed_events]) -
                       committed_elsewhere_ + handovers_->uncommitted_taken_over();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ahead));
}

void Worker::cut() {
    marks_.gvt_phase();
    const bool open = core_.rank.gvt().opened() != core_.epochs.epoch();
    if (!open || core_.epochs.epoch() != core_.epochs.seen() || standstill_.nothing_in_flight())
        return;
    if (handovers_->is_under_way()) return;
    outboxes_.flush(true);
    GvtRounds::Part& part = core_.rank.gvt().slot(core_.self.worker);
    outboxes_.take_batches_sent(part.sent);
    Contribution& slot = part.sums;
    slot = {};
    const PendingEntry* top = pending_.top();
    core_.epochs.cut(top != nullptr ? top->bound() : EventBound(), slot);
    slot.deferred = first_deferred();
    slot.lead = core_.lead.time;
    slot.executed = core_.counters[Counter::executed_events] - rolled_back_by_pauses_;
    slot.rolled_back = core_.counters[Counter::rolled_back_events] - rolled_back_by_pauses_;
    slot.committed = core_.counters[Counter::committed_events];
    if (core_.self.worker == 0) {
        slot.resident_bytes = core_.rank.memory_budget().used_bytes();
        slot.load = slot.load_most = core_.rank.rebinding().load();
    }
    if (core_.self.rank == 0 && core_.self.worker == 0)
        slot.clock_ns = static_cast<std::uint64_t>(
            std::chrono::nanoseconds(core_.now.time_since_epoch() - standstill_.time_paused())
                .count());
    slot.not_ended = ending_.lps_not_ended();
    slot.end_key = ending_.last_key();
    slot.sent_beyond_end = ending_.sent_beyond_end();
    slot.events_ahead = memory_relief_->events_ahead_max();
    slot.stop = static_cast<std::uint64_t>(core_.rank.stop_signal());
    slot.save = standstill_.is_save_due() ? 1 : 0;
    slot.move = standstill_.is_move_due() ? 1 : 0;
    slot.leave = standstill_.is_leave_due() ? 1 : 0;
    slot.irrevocable_before = safe_horizon_.irrevocable_before();
    slot.splits_time = safe_horizon_.splits_time() ? 1 : 0;
    if (core_.rank.model_failed()) slot.failed_at = core_.rank.model_failed_at();
    note_handoff(Handoff::cut_made);
    core_.rank.gvt().arrive(core_.self.worker);
    const std::uint32_t interval = core_.plan.config.gvt_interval_events;
    if (interval > 0) suggests_round_at_ = core_.counters[Counter::executed_events] + interval;
    marks_.mark(TraceKind::cut, 1);
}

bool Worker::commit() {
    marks_.commit_phase();
    const bool committed = committer_.step(memory_relief_->is_low());
    marks_.committed_events(core_.counters[Counter::committed_events]);
    if (committed && committer_.is_done() && memory_sampler_->is_due(core_.now)) sample_memory();
    marks_.mark(TraceKind::commit, committed ? 1 : 0);
    return committed;
}

void Worker::relieve_memory() {
    const MemoryBudget::Level level = core_.rank.memory_budget().level(core_.now);
    if (level == MemoryBudget::Level::full) throttle_.stay_at_gvt_for_memory();
    if (level != MemoryBudget::Level::ample) [[unlikely]]
        memory_relief_->give_back(level);
    memory_relief_->trim_mail();
}

void Worker::hand_over() {
    const std::vector<std::uint32_t> new_workers = handovers_->new_workers();
    give_back_deferred(new_workers);
    ahead_->forget();
    handovers_->hand_over(new_workers);
}

}  // namespace nw
