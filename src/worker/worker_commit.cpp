// Making final what lies below GVT: hooks, output, digest, and memory given back. And ending, which
// is a commit that reaches the end of the run.
//
// With an end condition (can_end()) commit lags one round behind GVT: what is below GVT is first
// looked at for can_end(), the next round tells everybody whether all LPs have ended and at which
// latest event K, and only then it is known that nothing beyond K may be committed.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/prefetch.hpp"
#include "engine/handler_call.hpp"
#include "engine/lp_building.hpp"
#include "numa/handler/heap_scope.hpp"
#include "worker/worker.hpp"

namespace nw {
namespace {

// LPs committed in one turn, so that a long commit does not delay the next cut. Unmeasured guess.
constexpr std::size_t commit_lps_per_turn = 512;

// Once in so long every group gives back the pages of its mail if none has come meanwhile: so many
// groups a turn, of which each may cost two system calls. Unmeasured guesses.
constexpr std::chrono::seconds mail_trim_interval{1};
constexpr std::chrono::milliseconds mail_trim_interval_memory_low{20};
constexpr std::size_t mail_trims_per_turn = 256;

EventKey just_after(EventKey key) noexcept {
    ++key.sequence;
    return key;
}

}  // namespace

void Worker::on_gvt() {
    if (epochs_.seen() == rank_.gvt().done()) return;
    const GvtResult& result = rank_.gvt().result();
    epochs_.learn(result.sums);
    NW_CHECK(result.gvt >= gvt_);
    gvt_ = result.gvt;
    run_what_is_certain(result.sums);
    if (self_.worker == 0) {
        if (self_.rank == 0) ++counters_[Counter::gvt_rounds];
        LiveProgress& progress = rank_.progress();
        progress.gvt.store(std::min(gvt_, plan_.until), std::memory_order_relaxed);
        progress.executed_events.store(result.sums.executed, std::memory_order_relaxed);
        progress.committed_events.store(result.sums.committed, std::memory_order_relaxed);
        if (self_.rank == 0 && rank_.history().is_due(now_)) take_sample(result);
    }
    if (phase_ == Phase::pausing) {
        learn_while_pausing(result);
        return;
    }
    if (phase_ == Phase::draining) {
        // Nobody executes any more. Two rounds on, every send lies in epochs that a quiesced round
        // covers. All workers see the same round say so, and none cuts another one.
        if (epochs_.seen() - draining_since_ >= 2 && result.quiesced) nothing_in_flight_ = true;
        return;
    }

    messages_since_gvt_ = 0;
    // Strictly ahead of GVT even where adding the window is lost in rounding.
    horizon_ =
        std::min(plan_.until, std::max(gvt_ + result.window, std::nextafter(gvt_, time_infinity)));
    plan_quota(result.sums.events_ahead);
    generations_ = result.generations;
    generation_limit_ = result.generation + result.generations;
    VirtualTime bound = gvt_;
    if (plan_.setup.process.has_end_condition) {
        scan_for_end(start_of(gvt_));
        bound = previous_gvt_;
        previous_gvt_ = gvt_;
        if (result.sums.not_ended == 0) {
            learn_all_can_end(result);
            return;
        }
    }
    if (bound >= plan_.until) {
        end_time_ = plan_.until;
        const bool ran_dry = bound == time_infinity && result.sums.dropped_beyond_end == 0;
        end_at(ran_dry ? EndReason::no_events : EndReason::until, start_of(time_infinity));
    } else if (result.sums.stop != 0 && !plan_.config.save.on()) {
        end_time_ = bound;
        end_at(EndReason::interrupted, start_of(bound));
    } else {
        begin_commit(start_of(bound));
        // With an end condition GVT may be at the end already: then the next round ends the run.
        if ((result.sums.stop != 0 || result.sums.save != 0) && gvt_ < plan_.until)
            begin_pause(result);
    }
    if (phase_ == Phase::running && rank_.rebinding().plan().round == epochs_.seen()) note_moves();
}

void Worker::learn_all_can_end(const GvtResult& result) {
    end_time_ = std::max(0.0, result.sums.end_key.time);
    end_at(EndReason::all_can_end, just_after(result.sums.end_key));
}

void Worker::take_sample(const GvtResult& result) {
    rank_.history().add(now_, {.gvt = std::min(gvt_, plan_.until),
                               .committed_events = result.sums.committed,
                               .executed_events = result.sums.executed,
                               .rolled_back_events = result.sums.rolled_back,
                               .gvt_rounds = counters_[Counter::gvt_rounds],
                               .resident_bytes = result.sums.resident_bytes,
                               .window = result.window});
}

void Worker::end_at(EndReason reason, const EventKey& bound) {
    end_reason_ = reason;
    phase_ = Phase::draining;
    draining_since_ = epochs_.seen();
    begin_commit(bound);
}

void Worker::begin_commit(const EventKey& bound) {
    commit_bound_ = bound;
    uncommitted_.insert(uncommitted_.end(), committing_.begin(), committing_.end());
    committing_.clear();
    committing_.swap(uncommitted_);
    commit_done_ = false;
}

bool Worker::commit_some() {
    if (commit_done_) return false;
    if (plan_.setup.process.has_commit) {
        if (sigsetjmp(guard_.env(), 0) != 0) {
            fail_in_commit(leave_crashed_handler(guard_));
            return true;
        }
    }
    commit_batch();
    if (!committing_.empty() || rank_.failed()) return true;
    commit_done_ = true;
    if (memory_look_.is_due(now_)) memory_look_.look(now_, groups_, keeper_.bytes());
    rank_.output().hand_over(self_.worker, rows_, commit_bound_.time);
    return true;
}

void Worker::commit_batch() {
    for (std::size_t n = 0; n < commit_lps_per_turn && !committing_.empty(); ++n) {
        LpRecord& lp = *committing_.back();
        committing_.pop_back();
        prefetch_commits();
        commit(group_of(lp), lp);
        if (rank_.failed()) return;
        if (lp.committed == lp.history.tail()) {
            lp.has_uncommitted = false;
        } else {
            uncommitted_.push_back(&lp);
        }
    }
}

// Record, then history entry, then event of the LPs that are committed next.
inline void Worker::prefetch_commits() noexcept {
    const std::size_t left = committing_.size();
    if (left > 12) prefetch(&committing_[left - 12]->history);
    if (left > 8) {
        committing_[left - 8]->history.prefetch_first(stride_);
        prefetch(committing_[left - 8]->saved_states);
    }
    if (left > 4) {
        LpRecord& lp = *committing_[left - 4];
        prefetch(entry_at(lp, lp.committed).event);
        keeper_.prefetch_trim(lp);
    }
}

void Worker::commit(Group& group, LpRecord& lp) {
    const History::Ordinal first = lp.committed;
    while (lp.committed != lp.history.tail()) {
        HistoryEntry& entry = entry_at(lp, lp.committed);
        if (!before(entry.event->key(), commit_bound_)) break;
        if (!commit_entry(group, lp, entry)) return;
        ++lp.committed;
    }
    group.load.commit(lp.committed - first);
    if (memory_low_ && lp.committed == lp.history.tail()) [[unlikely]]
        forget(group, lp);
    else if (keeper_.worth_trimming(lp))
        collect_fossils_before(group, lp, keeper_.trim(lp, lp.committed, group.heap));
    if constexpr (paranoid) check_change(lp);
}

void Worker::collect_fossils_before(Group& group, LpRecord& lp, History::Ordinal needed) noexcept {
    while (lp.history.head() != needed) {
        // The events lie where they were made, long ago for the cache. (Beyond the last one kept the
        // ring holds an older entry: a useless hint at worst.)
        prefetch(entry_at(lp, lp.history.head() + 4).event);
        EventRecord* event = entry_at(lp, lp.history.head()).event;
        group.heap.free(event, event->bytes());
        lp.history.drop_first();
    }
}

bool Worker::commit_entry(Group& group, LpRecord& lp, HistoryEntry& entry) {
    const EventRecord& event = *entry.event;
    if (event.failed) {
        report_failure(event, entry);
        return false;
    }
    lp.digest.append(event.time, event.type, event.payload(), event.payload_bytes);
    ++counters_[Counter::committed_events];
    last_committed_time_ = std::max(last_committed_time_, event.time);
    if (plan_.setup.process.has_commit && !call_on_commit(group, lp, entry)) return false;
    if (entry.side_effects != nullptr) {
        if (!plan_.setup.outputs.empty()) take_rows(entry, event.key());
        free_side_effects(group, entry);
    }
    return true;
}

// Apart, so that commit_entry stays small enough to be inlined.
[[gnu::noinline]] bool Worker::call_on_commit(Group& group, LpRecord& lp, HistoryEntry& entry) {
    running_ = {&group, &lp, entry.event, &entry, 0, false, "on_commit()"};
    if (call_guarded(guard_, nullptr, failure_,
                     [&] { lp.process->on_commit(entry.event->view()); }))
        return true;
    fail_in_commit(failure_);
    return false;
}

void Worker::report_failure(const EventRecord& event, const HistoryEntry& entry) {
    const SideEffect& failure = *entry.side_effects;
    rank_.fail_in_model(
        event.key(),
        describe_event(event) +
            std::string(reinterpret_cast<const char*>(failure.content()), failure.bytes));
}

void Worker::fail_in_commit(const std::string& what) {
    rank_.fail_in_model(running_.event->key(),
                        describe_event(*running_.event) + "on_commit(): " + what);
}

// What failed before a final event is final, too, and the cause of what comes later may lie in it.
void Worker::report_earlier_failures() {
    const std::optional<EventKey> bound = rank_.model_failure_key();
    if (!bound) return;
    for (Group* group : groups_) {
        for (std::uint32_t i = 0; i < group->count; ++i) {
            LpRecord& lp = group->lps[i];
            for (History::Ordinal p = lp.committed; p != lp.history.tail(); ++p) {
                const HistoryEntry& entry = entry_at(lp, p);
                if (!before(entry.event->key(), *bound)) break;
                if (!entry.event->failed) continue;
                report_failure(*entry.event, entry);
                break;
            }
        }
    }
}

void Worker::take_rows(const HistoryEntry& entry, const EventKey& key) {
    const auto first = static_cast<std::ptrdiff_t>(rows_.size());
    for (const SideEffect* effect = entry.side_effects; effect != nullptr; effect = effect->next) {
        if (effect->kind != SideEffect::Kind::output_row) continue;
        ++counters_[Counter::output_rows];
        if (rank_.output().wanted())
            rows_.push_back(
                {key, effect->table, {effect->content(), effect->content() + effect->bytes}});
    }
    std::reverse(rows_.begin() + first, rows_.end());  // side effects are chained newest first
}

// A group that rebinding moves meanwhile may be left out once.
void Worker::trim_mail() {
    const std::size_t end = std::min(groups_.size(), trimmed_ + mail_trims_per_turn);
    for (; trimmed_ < end; ++trimmed_) groups_[trimmed_]->mail.trim();
    if (trimmed_ < groups_.size()) return;
    trimmed_ = 0;
    trim_due_ = now_ + (memory_low_ ? mail_trim_interval_memory_low : mail_trim_interval);
}

// Looks at what has become final for the first event after which its LP would let the run end.
void Worker::scan_for_end(const EventKey& bound) {
    const auto scan = [&](const std::vector<LpRecord*>& lps) {
        for (LpRecord* lp : lps) {
            if (lp->ended) continue;
            while (lp->scanned != lp->history.tail()) {
                const EventRecord& event = *entry_at(*lp, lp->scanned).event;
                if (!before(event.key(), bound)) break;
                ++lp->scanned;
                if (!event.lets_end) continue;
                lp->ended = true;
                --lps_not_ended_;
                if (before(end_key_, event.key())) end_key_ = event.key();
                break;
            }
        }
    };
    scan(uncommitted_);
    scan(committing_);
}

// --- After the run ---------------------------------------------------------------------------------

LpRecord& Worker::lp(std::uint32_t id) const noexcept {
    const Partition::Place place = plan_.partition.place(id);
    return rank_.group(place.group)->lps[place.index];
}

void Worker::finalize() {
    memory_look_.look(now_, groups_, keeper_.bytes());
    for (Group* group : groups_) {
        counters_[Counter::mail_spilled_bytes] += group->memory.mail().spilled_bytes();
        for (std::uint32_t i = 0; i < group->count; ++i) {
            LpRecord& lp = group->lps[i];
            if (lp.committed != lp.history.tail()) restore_state(*group, lp, lp.committed);
        }
    }
    counters_[Counter::saved_states] = keeper_.saved_states();
    counters_[Counter::saved_states_bytes_peak] = keeper_.bytes_peak();
}

void Worker::destroy_lps() {
    for (Group* group : groups_) {
        running_ = {group, nullptr, nullptr, nullptr, 0, false, "its destructor"};
        nw::destroy_lps(*group, guard_);
    }
    running_ = {};
}

void Worker::run_on_end(LpRecord& lp, VirtualTime end_time) {
    HistoryEntry entry{};
    Group& group = group_of(lp);
    running_ = {&group, &lp, nullptr, &entry, 0, false, "on_end()"};
    Context context = make_context(end_time, LpId{lp.id}, plan_.rules.lps,
                                   Random(plan_.config.seed, lp.id, lp.random_counter));
    if (sigsetjmp(guard_.env(), 0) != 0) {
        const std::string what = leave_crashed_handler(guard_);  // before there is an exception
        throw ModelError(
            fmt::format("LP {} at time {} in on_end(): {}", running_.lp->id, end_time, what));
    }
    const bool well = call_handler_of(lp, guard_, failure_, [&] { lp.process->on_end(context); });
    if (!well || entry.sent_count > 0)
        throw ModelError(fmt::format("LP {} at time {} in on_end(): {}", lp.id, end_time,
                                     well ? "schedule() when the run is over" : failure_));
    // Behind all rows of events, and among ranks in the order of LPs.
    take_rows(entry, EventKey{time_infinity, 0, lp.id, 0});
    for (const OutputWriter::Row& row : rows_) rank_.output().write(row);
    rows_.clear();
    free_side_effects(group, entry);
    running_ = {};
}

}  // namespace nw
