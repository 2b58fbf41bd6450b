// SPDX-License-Identifier: Apache-2.0
#include "lp/state_keeping.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include <numawarp/model.hpp>

#include "lp/past_log.hpp"
#include "memory/heap/lp_heap.hpp"
#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

// Maximum interval between saved states. With a longer interval, a rollback after a calm phase
// coasts forward over too many events, and the history contains too many events. The interval is
// longer only if saving a state takes as long as many events, for example with large states. Then
// the interval grows until saving takes at most a quarter of the time of the events. In this case,
// coasting over half of an interval takes twice as long as restoring the state, and the history
// takes less than twice the memory of the state. (A state of 8 KiB takes about 800 ns, an event 65
// ns and at least 200 bytes.)
constexpr std::uint32_t interval_max = 32;
constexpr std::uint32_t interval_max_large = 1024;
constexpr float event_time_per_save = 4;

constexpr float smoothing = 0.2f;

// A thread that loses its core during a measurement gets a sample that is a thousand times too
// large.
constexpr float sample_max = 4;  // times the mean

// Returns the distance from a to b. Ordinals wrap.
std::int32_t from_to(History::Ordinal a, History::Ordinal b) noexcept {
    return static_cast<std::int32_t>(b - a);
}

float smooth(float mean, float sample) noexcept {
    return mean == 0 ? sample : mean + smoothing * (std::min(sample, sample_max * mean) - mean);
}

std::uint32_t longest_interval(const SavedStates& kept) noexcept {
    const float wanted = event_time_per_save * kept.save_ns / kept.event_ns;
    if (wanted <= static_cast<float>(interval_max)) return interval_max;
    return static_cast<std::uint32_t>(std::min(wanted, static_cast<float>(interval_max_large)));
}

using Clock = std::chrono::steady_clock;

float ns_since(Clock::time_point start) noexcept {
    return std::chrono::duration<float, std::nano>(Clock::now() - start).count();
}

}  // namespace

void StateKeeper::take_due(LpRecord& lp, History::Ordinal position, PlatformHeap& heap) {
    if (lp.failed) {
        ++lp.save_due;  // the state of a failed LP is not saved
        return;
    }
    SavedStates& kept = states_of(lp, heap);
    const bool measured = kept.save_ns == 0 || (taken_ & 7) == 0;
    const auto start = measured ? Clock::now() : Clock::time_point{};
    take(lp, position, heap);
    if (measured) kept.save_ns = smooth(kept.save_ns, ns_since(start));
}

// Requires: the LP saves states, and its history contains the event before which a state is saved.
SavedStates& StateKeeper::states_of(LpRecord& lp, PlatformHeap& heap) {
    if (lp.saved_states == nullptr) {
        lp.saved_states = new (heap.allocate(sizeof(SavedStates))) SavedStates{};
        meter_memory<MeterKind::snapshots>(lp.saved_states, sizeof(SavedStates));
        ++lps_saved_;
        lp.saved_states->adapted_at = lp.history.tail() - 1;
        if (rules_of(lp).state_saving_interval > 0)
            lp.saved_states->interval = rules_of(lp).state_saving_interval;
    }
    return *lp.saved_states;
}

// Notes that a state of the LP takes at least `bytes`, with its headers. An adapted interval
// becomes 1 if each event of the LP saves a state. If the interval was 1 because all states were
// small, and this state is not small, the interval becomes first_interval. Requires: the LP has
// SavedStates.
void StateKeeper::note_size(const LpRecord& lp, std::uint64_t bytes) const noexcept {
    SavedStates& kept = *lp.saved_states;
    const bool was_small = is_small(kept);
    kept.bytes_most = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(kept.bytes_most, std::min<std::uint64_t>(bytes, UINT32_MAX)));
    if (rules_of(lp).state_saving_interval > 0) return;
    if (is_saved_at_each_event(kept)) {
        kept.interval = 1;
    } else if (was_small && !is_small(kept) && kept.interval == 1) {
        kept.interval = SavedStates::first_interval;
        kept.adapted_at = lp.history.tail();
        kept.rollbacks = 0;
    }
}

void StateKeeper::take(LpRecord& lp, History::Ordinal position, PlatformHeap& heap) {
    const StateKeepingRules& rules = rules_of(lp);
    const std::size_t live_bytes = heap.live_bytes();
    SavedState* saved;
    if (rules.saved == StateKeepingRules::Saved::copies) {
        const std::size_t saved_bytes = sizeof(SavedState) + rules.state_bytes;
        saved = static_cast<SavedState*>(heap.allocate(saved_bytes));
        meter_memory<MeterKind::snapshots>(saved, saved_bytes);
        std::memcpy(saved->state(), plain_state(lp), rules.state_bytes);
    } else {
        SavedState* const older = lp.saved_states->newest;
        Snapshot* const previous = older != nullptr ? older->snapshot() : nullptr;
        saved = reinterpret_cast<SavedState*>(lp.heap.take(heap, previous, sizeof(SavedState))) - 1;
    }
    const std::uint64_t bytes = heap.live_bytes() - live_bytes;
    add(lp, saved, position, bytes);
    note_size(lp, bytes);
    lp.save_due = position + lp.saved_states->interval;
    ++taken_;
    taken_bytes_ += bytes;
}

// Adds `saved`, which takes `bytes`, to the LP's saved states. Requires: `saved` is newer than all
// of these states.
void StateKeeper::add(LpRecord& lp, SavedState* saved, History::Ordinal position,
                      std::uint64_t bytes) noexcept {
    SavedStates& kept = *lp.saved_states;
    *saved = {kept.newest, position, rules_of(lp).saved == StateKeepingRules::Saved::snapshots};
    kept.newest = saved;
    kept.bytes += bytes;
    bytes_ += bytes;
    bytes_peak_ = std::max(bytes_peak_, bytes_);
}

std::uint16_t StateKeeper::write_state(const LpRecord& lp, const StateKeepingRules& rules,
                                       std::byte* state) const noexcept {
    if (rules.saved == StateKeepingRules::Saved::snapshots)
        return static_cast<std::uint16_t>(lp.heap.write_if_small(state, state_in_log_max));
    const std::uint32_t bytes = (rules.state_bytes + 7) & ~7u;
    if (bytes > state_in_log_max) return 0;
    std::memcpy(state, plain_state(lp), rules.state_bytes);
    return static_cast<std::uint16_t>(bytes);
}

void StateKeeper::take_from_log(LpRecord& lp, const std::byte* state, std::size_t bytes,
                                PlatformHeap& heap) {
    const StateKeepingRules& rules = rules_of(lp);
    if (rules.saved == StateKeepingRules::Saved::copies) bytes = rules.state_bytes;
    const std::size_t live_bytes = heap.live_bytes();
    auto* const saved = static_cast<SavedState*>(heap.allocate(sizeof(SavedState) + bytes));
    meter_memory<MeterKind::snapshots>(saved, sizeof(SavedState) + bytes);
    std::memcpy(saved->state(), state, bytes);
    const std::uint64_t taken = heap.live_bytes() - live_bytes;
    states_of(lp, heap).interval = 1;
    add(lp, saved, lp.history.tail() - 1, taken);
    lp.save_due = lp.history.tail();
}

std::uint64_t StateKeeper::bytes_held(const LpRecord& lp) noexcept {
    return lp.saved_states == nullptr ? 0 : lp.saved_states->bytes;
}

void StateKeeper::drop(LpRecord& lp, SavedState* saved, PlatformHeap& heap) noexcept {
    const std::size_t live_bytes = heap.live_bytes();
    if (saved->is_snapshot)
        LpHeap::drop(saved->snapshot(), heap, sizeof(SavedState));
    else
        heap.free(saved, sizeof(SavedState) + rules_of(lp).state_bytes);
    const std::uint64_t dropped_bytes = live_bytes - heap.live_bytes();
    lp.saved_states->bytes -= dropped_bytes;
    bytes_ -= dropped_bytes;
}

History::Ordinal StateKeeper::restore_saved_state(LpRecord& lp, History::Ordinal position,
                                                  PlatformHeap& heap) {
    SavedStates& kept = *lp.saved_states;
    ++kept.rollbacks;
    // Ordinals wrap, so positions are compared by their distance.
    while (from_to(position, kept.newest->position) > 0) {
        SavedState* dropped = kept.newest;
        kept.newest = dropped->older;
        drop(lp, dropped, heap);
        NW_CHECK(kept.newest != nullptr);
    }
    if (kept.newest->is_snapshot) {
        lp.heap.restore(*kept.newest->snapshot());
    } else {
        std::memcpy(plain_state(lp), kept.newest->state(), rules_of(lp).state_bytes);
    }
    lp.save_due = kept.newest->position + kept.interval;
    // If the restored position is beyond save_due because the interval has become shorter, the next
    // state is saved at once.
    if (from_to(position, lp.save_due) < 0) lp.save_due = position;
    return kept.newest->position;
}

History::Ordinal StateKeeper::drop_states_before(LpRecord& lp, History::Ordinal position,
                                                 PlatformHeap& heap) {
    SavedState* base = lp.saved_states->newest;
    while (from_to(position, base->position) > 0) base = base->older;
    for (SavedState* old = base->older; old != nullptr;) {
        SavedState* older = old->older;
        drop(lp, old, heap);
        old = older;
    }
    base->older = nullptr;
    adapt(lp, position);
    return base->position;
}

void StateKeeper::drop_all_states(LpRecord& lp, PlatformHeap& heap) noexcept {
    if (lp.saved_states != nullptr) {
        for (SavedState* old = std::exchange(lp.saved_states->newest, nullptr); old != nullptr;) {
            SavedState* older = old->older;
            drop(lp, old, heap);
            old = older;
        }
    }
    begin(lp);
}

void StateKeeper::free_saved_states(LpRecord& lp, PlatformHeap& heap) noexcept {
    heap.free(lp.saved_states, sizeof(SavedStates));
    lp.saved_states = nullptr;
    --lps_saved_;
}

void StateKeeper::forget(LpRecord& lp, PlatformHeap& heap) noexcept {
    if (!saves_states(lp)) return;
    drop_all_states(lp, heap);
    if (lp.saved_states == nullptr) return;
    free_saved_states(lp, heap);
}

void StateKeeper::resume(LpRecord& lp, PlatformHeap& heap) noexcept {
    begin(lp);
    if (lp.saved_states == nullptr) return;
    ++lps_saved_;
    if (!saves_states(lp)) {
        free_saved_states(lp, heap);
        return;
    }
    lp.saved_states->bytes_most = 0;
    if (rules_of(lp).state_saving_interval > 0)
        lp.saved_states->interval = rules_of(lp).state_saving_interval;
}

std::size_t StateKeeper::bytes_per_event() const noexcept {
    return rules_.front().entry_stride + (taken_ > 0 ? taken_bytes_ / taken_ : 0);
}

void StateKeeper::adapt(LpRecord& lp, History::Ordinal position) noexcept {
    if (rules_of(lp).state_saving_interval > 0) return;
    SavedStates& kept = *lp.saved_states;
    constexpr std::uint32_t enough_events = 32;
    const std::uint32_t events = position - kept.adapted_at;
    if (events < enough_events || kept.save_ns == 0 || kept.event_ns == 0) return;
    // If there was no rollback, the interval is computed for one rollback, and at least doubled.
    double best = std::ceil(
        std::sqrt(2.0 * events / std::max(kept.rollbacks, 1U) * kept.save_ns / kept.event_ns));
    if (kept.rollbacks == 0) {
        if (events < kept.interval) return;  // too few to conclude that rollbacks are rare
        best = std::max(best, 2.0 * kept.interval);
    }
    best = std::clamp(best, 1.0, static_cast<double>(longest_interval(kept)));
    kept.interval = is_saved_at_each_event(kept) ? 1 : static_cast<std::uint32_t>(best);
    kept.adapted_at = position;
    kept.rollbacks = 0;
}

void StateKeeper::event_cost(LpRecord& lp, float ns) noexcept {
    lp.saved_states->event_ns = smooth(lp.saved_states->event_ns, ns);
}

void validate_saved_states(const LpRecord& lp, const StateKeepingRules& rules,
                           const LogEntry* logged) {
    const History& history = lp.history;
    if (!rules.saves_states()) {
        NW_CHECK(lp.saved_states == nullptr);
        return;
    }
    // The next state is saved before an event that has not been executed yet.
    NW_CHECK(from_to(history.tail(), lp.save_due) >= 0);
    if (lp.saved_states == nullptr || lp.saved_states->newest == nullptr) {
        // No state is saved for an event that has failed and cannot be undone.
        NW_CHECK(history.empty() || lp.failed);
        NW_CHECK(logged == nullptr || logged->state_bytes > 0);
        return;
    }
    // An LP with saved states in its history has no events in the log.
    NW_CHECK(logged == nullptr);
    const SavedStates& kept = *lp.saved_states;
    NW_CHECK(kept.interval >= 1);
    NW_CHECK(from_to(kept.newest->position, history.tail()) >= 0);
    NW_CHECK(from_to(kept.newest->position, lp.save_due) > 0);
    const SavedState* saved = kept.newest;
    for (; saved->older != nullptr; saved = saved->older) {
        NW_CHECK(from_to(saved->older->position, saved->position) > 0);
        NW_CHECK(saved->is_snapshot == saved->older->is_snapshot);
    }
    // The LP can be rolled back to each entry, and no saved state is kept without need.
    NW_CHECK(history.head() == saved->position);
    NW_CHECK(saved->is_snapshot == (rules.saved == StateKeepingRules::Saved::snapshots));
}

}  // namespace nw
