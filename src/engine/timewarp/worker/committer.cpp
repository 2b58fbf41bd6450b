// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/committer.hpp"

#include <cstring>

#include "engine/checked/checked_run.hpp"
#include "engine/event_flow.hpp"
#include "engine/handler_call.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/side_effects.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/output/output_writer.hpp"
#include "util/check.hpp"
#include "util/prefetch.hpp"

namespace nw {
namespace {

// The number of LPs that are committed in one turn. If there are many LPs, most of them have only
// one or two events. Then the commit of this number of LPs takes about as long as two batches of
// events. The time per event is the same with a quarter of this number and with four times this
// number (docs/results/constants-2026-11-23.csv).
constexpr std::size_t lps_per_turn = 512;
// The number of events of the log that are committed in one turn. The commit of one event takes 26
// instructions (PCS, counted by callgrind). So the commit of this number of events takes as many
// instructions as a batch of 128 events.
constexpr std::uint32_t logged_per_turn = 4096;

}  // namespace

Committer::Committer(WorkerCore& core) : core_(core) {}

Committer::~Committer() = default;

void Committer::begin(const EventKey& bound) {
    core_.commit_bound = bound;
    add_uncommitted(committing_);
    committing_.clear();
    committing_.swap(uncommitted_);
    is_done_ = false;
    has_taken_over_ = false;
}

void Committer::resume(const EventKey& bound) {
    if (bound == core_.commit_bound && !has_taken_over_) return;
    begin(bound);
}

bool Committer::step(bool forgets_past) {
    if (is_done_) return false;
    if (core_.plan.kinds.has_commit()) {
        if (sigsetjmp(core_.guard.env(), 0) != 0) {
            fail_in_on_commit(leave_crashed_handler(core_.guard));
            count_logged();
            if (core_.running.lp->has_uncommitted) uncommitted_.push_back(core_.running.lp);
            return true;
        }
    }
    if (!commit_batch(forgets_past)) return true;
    is_done_ = true;
    core_.log.trim(forgets_past);
    core_.rank.output().hand_over(core_.self.worker, rows_, core_.commit_bound.time);
    return true;
}

void Committer::end_before_failure() {
    const EventKey failed_at = core_.rank.model_failed_at();
    if (before(failed_at, core_.commit_bound)) core_.commit_bound = failed_at;
}

// Returns whether the commit is done.
bool Committer::commit_batch(bool forgets_past) {
    if (core_.rank.model_failed()) [[unlikely]]
        end_before_failure();
    const bool log_is_done = commit_log(logged_per_turn);
    for (std::size_t n = 0; n < lps_per_turn && !committing_.empty(); ++n) {
        LpRecord& lp = *committing_.back();
        committing_.pop_back();
        prefetch_next();
        commit(core_.group_of(lp), lp, forgets_past);
        if (lp.committed == lp.history.tail()) {
            lp.has_uncommitted = false;
        } else {
            uncommitted_.push_back(&lp);
        }
    }
    return log_is_done && committing_.empty();
}

// Prefetches the record, then the history entry, then the event of the LPs that are committed next.
inline void Committer::prefetch_next() noexcept {
    const std::size_t left = committing_.size();
    if (left > 12) prefetch(&committing_[left - 12]->history);
    if (left > 8) {
        committing_[left - 8]->history.prefetch_first(core_.stride);
        prefetch(committing_[left - 8]->saved_states);
    }
    if (left > 4) {
        LpRecord& lp = *committing_[left - 4];
        // If an irrevocable event has followed, the history is empty and may have no ring.
        if (!lp.history.empty()) prefetch(core_.entry_at(lp, lp.committed).event);
        core_.keeper.prefetch_trim(lp);
    }
}

inline void Committer::append_to_digest(LpRecord& lp, const EventRecord& event) {
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    if (CheckedRun* const checked = core_.plan.config.checked) [[unlikely]]
        checked->note_committed(event);
    ++core_.counters[Counter::committed_events];
    if (core_.counts_events()) ++core_.figures_of(lp, event.type).committed;
    note_committed(event.time);
}

inline void Committer::release_side_effects(Group& group, HistoryEntry& entry) {
    if (entry.side_effects == nullptr) return;
    if (!core_.plan.setup.outputs.empty()) take_rows(entry, entry.event->key());
    if (core_.intervals != nullptr) [[unlikely]]
        take_figures(entry);
    free_side_effects(entry, group.heap);
}

inline bool Committer::commit_entry(Group& group, LpRecord& lp, HistoryEntry& entry) {
    const EventRecord& event = *entry.event;
    if (event.failed) {
        report_failure(event, entry);
        return false;
    }
    append_to_digest(lp, event);
    if (core_.plan.kinds.has_commit() && !call_on_commit(group, lp, entry)) return false;
    release_side_effects(group, entry);
    return true;
}

void Committer::commit_at_once(Group& group, LpRecord& lp, HistoryEntry& entry) {
    append_to_digest(lp, *entry.event);
    release_side_effects(group, entry);
    group.load.commit(1);
}

void Committer::release_side_effects_at_once(Group& group, HistoryEntry& entry) {
    release_side_effects(group, entry);
}

// Does nothing if the model has on_commit(). Then step() commits the LP, because step() can handle
// a crash of on_commit().
void Committer::commit_now(Group& group, LpRecord& lp) {
    if (core_.plan.kinds.has_commit() || core_.rank.model_failed()) return;
    if (core_.log.contains_events_of(lp)) {
        if (before(core_.log.newest_entry_of(lp).event, core_.commit_bound)) commit_log(UINT32_MAX);
    } else if (before(core_.entry_at(lp, lp.committed).event->key(), core_.commit_bound)) {
        commit(group, lp, false);
    }
}

void Committer::commit(Group& group, LpRecord& lp, bool forgets_past) {
    const History::Ordinal first = lp.committed;
    while (lp.committed != lp.history.tail()) {
        HistoryEntry& entry = core_.entry_at(lp, lp.committed);
        if (!before(entry.event->key(), core_.commit_bound)) break;
        if (!commit_entry(group, lp, entry)) return;
        ++lp.committed;
    }
    group.load.commit(lp.committed - first);
    const bool is_all = lp.committed == lp.history.tail();
    if (forgets_past && is_all) [[unlikely]]
        core_.forget(group, lp);
    else if (is_all && core_.keeper.drops_past_early(lp)) {
        core_.keeper.adapt(lp, lp.committed);
        core_.drop_history(group, lp);
    } else if (core_.keeper.worth_trimming(lp))
        core_.collect_fossils_before(group, lp, core_.keeper.trim(lp, lp.committed, group.heap));
    if constexpr (paranoid) core_.check_change(lp);
}

// Not inlined, so that commit_entry() stays small enough to be inlined.
[[gnu::noinline]] bool Committer::call_on_commit(Group& group, LpRecord& lp, HistoryEntry& entry) {
    core_.running = {&group, &lp, entry.event, &entry, {}, false, "on_commit()"};
    if (call_guarded(core_.guard, nullptr, core_.failure,
                     [&] { lp.process->on_commit(entry.event->view()); }))
        return true;
    fail_in_on_commit(core_.failure);
    return false;
}

void Committer::report_failure(const EventRecord& event, const HistoryEntry& entry) {
    const SideEffect& failure = *entry.side_effects;
    core_.rank.fail_in_model(
        event.key(),
        describe_event(event, core_.plan.kinds) +
            std::string(reinterpret_cast<const char*>(failure.content()), failure.bytes));
    end_before_failure();
}

void Committer::fail_in_on_commit(const std::string& what) {
    core_.rank.fail_in_model(core_.running.key(),
                             describe_call(core_.running, core_.plan.kinds) + what);
    end_before_failure();
}

void Committer::take_rows(const HistoryEntry& entry, const EventKey& key) {
    const auto first = static_cast<std::ptrdiff_t>(rows_.size());
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next) {
        if (effect->kind != SideEffect::Kind::output_row) continue;
        ++core_.counters[Counter::output_rows];
        if (core_.rank.output().wanted())
            rows_.push_back(
                {key, effect->table, {effect->content(), effect->content() + effect->bytes}});
    }
    // The chain of side effects begins with the newest one.
    std::reverse(rows_.begin() + first, rows_.end());
}

void Committer::take_figures(const HistoryEntry& entry) {
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next)
        if (effect->kind == SideEffect::Kind::figures) core_.intervals->add(effect->bytes_of());
}

void Committer::write_rows() {
    for (const OutputRow& row : rows_) core_.rank.output().write(row);
    rows_.clear();
}

// --- The log -------------------------------------------------------------------------------------

// Commits at most `limit` events of the log. Returns whether there are no more to commit.
bool Committer::commit_log(std::uint32_t limit) {
    const bool counts = core_.counts_events();
    const std::uint32_t committed = core_.log.commit(
        core_.commit_bound, limit,
        [&](const LogEntry& entry) {
            ++logged_committed_;
            last_logged_ = entry.event.time;
            if (counts)
                ++core_.figures.events[core_.plan.kinds.slot(entry.kind, entry.event.type)]
                      .committed;
        },
        [&](LogEntry& entry) { commit_rest(entry); });
    count_logged();
    return committed < limit;
}

// Adds the committed events of the log to the counter, also if on_commit() of the last event has
// crashed.
void Committer::count_logged() noexcept {
    core_.counters[Counter::committed_events] += std::exchange(logged_committed_, 0);
    note_committed(last_logged_);
}

// The part of the commit that most entries do not need.
void Committer::commit_rest(LogEntry& entry) {
    LpRecord& lp = *entry.lp;
    Group& group = core_.group_of(lp);
    if ((entry.flags & LogEntry::timed) != 0) group.load.commit(events_between_timed);
    if (core_.plan.kinds.has_commit() || entry.side_effects != nullptr) {
        HistoryEntry final_entry{&record_of(entry), nullptr, entry.side_effects, 0, 0};
        if (core_.plan.kinds.has_commit() && !call_on_commit(group, lp, final_entry)) return;
        release_side_effects(group, final_entry);
    }
    if (entry.record != nullptr) free_event(group, *entry.record);
}

// Returns the event as a record, which is valid until the next call.
EventRecord& Committer::record_of(LogEntry& entry) {
    if (entry.record != nullptr) return *entry.record;
    static_cast<EventHeader&>(record_.header) = entry.event;
    record_.header.begin();
    std::memcpy(record_.payload, core_.log.payload_of(entry), entry.event.payload_bytes);
    return record_.header;
}

// Puts an entry of the log into the LP's history.
void Committer::add_to_history(Group& group, LogEntry& entry) {
    LpRecord& lp = *entry.lp;
    EventRecord* event = entry.record;
    if (event == nullptr) {
        event = &new_event(group, entry.event, core_.log.payload_of(entry));
        event->status = EventStatus::processed;
        event->canceled_by_identity = true;  // its sender may cancel it by its identity
    }
    HistoryEntry& kept = lp.history.append(core_.stride, group.heap);
    kept = {event, nullptr, entry.side_effects, entry.random_used, entry.sent_count};
    std::memcpy(kept.undo(), entry.undo(), core_.log.undo_bytes());
    if (entry.state_bytes > 0)
        core_.keeper.take_from_log(lp, core_.log.state_of(entry), entry.state_bytes, group.heap);
    for (std::uint32_t i = 0; i < entry.sends; ++i)
        add_anti_message(kept, entry.first_send()[i], group.heap);
}

void Committer::move_into_history(Group& group, LpRecord& lp) {
    core_.log.take(lp, [&](LogEntry& entry) {
        add_to_history(group, entry);
        if (lp.has_uncommitted) return;
        lp.digest = entry.digest;
        lp.has_uncommitted = true;
        // If a commit is under way, it must visit the LP, which may have events before the commit's
        // bound.
        (is_done_ ? uncommitted_ : committing_).push_back(&lp);
    });
}

void Committer::take_into_histories(const EventKey& from) {
    core_.log.for_each([&](LogEntry& entry) {
        if (!before(entry.event, from)) take_into_history(core_.group_of(*entry.lp), *entry.lp);
    });
}

void Committer::validate() const { NW_CHECK(!is_done_ || committing_.empty()); }

}  // namespace nw
