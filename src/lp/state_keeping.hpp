// SPDX-License-Identifier: Apache-2.0
// Saves and restores the states of LPs, by the rules that a method of --rollback makes
// (rollback_methods.hpp). An LP's past is kept in one of three ways:
//
//   in each entry of the log or the history, bytes that restore the state before the event
//   before each event, a small state in the event's entry of the log
//   every χ events a saved state: a copy of the plain state, or a snapshot of the LP's heap
//
// χ is adapted for each LP: ⌈√(2 · events/rollbacks · cost of saving a state/cost of an event)⌉,
// the square-root rule of Lin, Preiss, Loucks and Lazowska: "Selecting the checkpoint interval in
// Time Warp simulation", PADS 1993. The worker executes the events between the saved state and the
// wanted position again, without sends (coast forward).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "lp/lp_record.hpp"
#include "lp/rollback_methods.hpp"

namespace nw {

struct LogEntry;
struct Snapshot;

// A saved state at a position of the history. The state follows: a Snapshot, or with `copy` the
// bytes of the LP's plain state.
struct SavedState {
    SavedState* older;
    History::Ordinal position;
    bool is_snapshot;

    std::byte* state() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    Snapshot* snapshot() noexcept {
        return is_snapshot ? reinterpret_cast<Snapshot*>(this + 1) : nullptr;
    }
};

// An LP's saved states, and the measurements from which its interval is adapted.
struct SavedStates {
    static constexpr std::uint32_t first_interval = 8;

    SavedState* newest = nullptr;  // `older` links to the others; null: the history has none
    std::uint64_t bytes = 0;       // of all saved states; shared data are counted once
    std::uint32_t interval = first_interval;  // events between saved states
    std::uint32_t bytes_most = 0;             // of one saved state, with its headers
    // Position up to which events were final at the last adaptation.
    History::Ordinal adapted_at = 0;
    std::uint32_t rollbacks = 0;  // since the last adaptation
    float save_ns = 0;            // running means; 0 until measured
    float event_ns = 0;
};

// The rules by which the past of the LPs of one kind is kept. Fixed for a run. Made by
// RollbackMethod::rules().
struct StateKeepingRules {
    enum class Saved : std::uint8_t { none, copies, snapshots };

    StateKeepingRules() = default;
    explicit StateKeepingRules(const RollbackMethod& of) : method(&of) {}

    // Reserves room in each entry of the log and of the history, which then contains everything
    // that restores the state before its event.
    void set_undo_bytes(std::uint32_t bytes) noexcept {
        entry_stride = sizeof(HistoryEntry) + ((bytes + 7) & ~7u);
    }
    bool saves_states() const noexcept { return saved != Saved::none; }

    const RollbackMethod* method = nullptr;
    Saved saved = Saved::none;                // every χ events
    bool keeps_control = false;               // each entry has the control word of its event
    std::uint32_t copied_bytes = 0;           // of the plain state, in each entry
    std::uint32_t state_bytes = 0;            // of a plain state
    std::uint32_t state_saving_interval = 0;  // χ; 0: adapted
    std::uint32_t entry_stride = sizeof(HistoryEntry);
    void* (*state_of)(LogicalProcess*) = nullptr;
};

// Fails if the LP's saved states do not fit to its history. `logged`: the newest entry of the LP in
// the worker's log; null: the log has none.
void validate_saved_states(const LpRecord& lp, const StateKeepingRules& rules,
                           const LogEntry* logged);

// Saves and restores the states of one worker's LPs. Thread: the worker.
class StateKeeper {
  public:
    // Maximum size of a small state with its headers, a multiple of 8.
    static constexpr std::size_t small_state_bytes = 256;
    // Maximum size of a state in an entry of the log, where it has no SavedState.
    static constexpr std::size_t state_in_log_max = small_state_bytes - sizeof(SavedState);

    // `rules`: by kind of LP. `uses_log`: whether most events that may be undone are in a log.
    StateKeeper(std::vector<StateKeepingRules> rules, bool uses_log)
        : rules_(std::move(rules)), uses_log_(uses_log) {}

    const std::vector<StateKeepingRules>& rules() const noexcept { return rules_; }
    const StateKeepingRules& rules_of(const LpRecord& lp) const noexcept { return rules_[lp.kind]; }
    bool saves_states(const LpRecord& lp) const noexcept { return rules_of(lp).saves_states(); }
    bool some_save_states() const noexcept {
        return std::ranges::any_of(rules_, &StateKeepingRules::saves_states);
    }

    // Starts saving states: the first state is saved before the LP's next event. Called before the
    // first event, and when the history has been dropped. Requires: no executed event can be rolled
    // back any more, and the LP has no saved states.
    void begin(LpRecord& lp) noexcept { lp.save_due = lp.history.tail(); }
    // Called for an LP of a saved run, or of another rank. The rules may have changed; measurements
    // are kept if they are still used. Requires: the LP's history has been dropped.
    void resume(LpRecord& lp, PlatformHeap& heap) noexcept;

    // Called before the event of the history's newest entry is executed.
    void save(LpRecord& lp, HistoryEntry& entry, PlatformHeap& heap) {
        const StateKeepingRules& rules = rules_of(lp);
        if (rules.copied_bytes > 0)
            copy_words(entry.undo(), plain_state(lp), rules.copied_bytes);
        else if (rules.saves_states() && lp.history.tail() - 1 == lp.save_due) [[unlikely]]
            take_due(lp, lp.save_due, heap);
    }

    // Whether the entry of the LP's next event in the worker's log can contain everything that
    // undoes the event: the undo data, or a small state that is saved before each event. Before the
    // first state is saved in the history, the size of states is not known, and save_in_log()
    // determines it. Requires: all events of the LP's history are final.
    bool suits_log(const LpRecord& lp) const noexcept {
        const StateKeepingRules& rules = rules_of(lp);
        if (!rules.saves_states()) return true;
        const SavedStates* const kept = lp.saved_states;
        if (kept == nullptr) return rules.state_saving_interval <= 1;
        return kept->newest == nullptr && kept->interval == 1 && is_small(*kept);
    }
    // Called before the execution of an event whose entry is in the worker's log. Writes the
    // undo data to `undo`, or the state to `state`, which has room for state_in_log_max bytes.
    // Returns the number of bytes written to `state`, which is 0 if the LP saves no states. Returns
    // nullopt if the state is too large; the event must then be executed into the history.
    // Requires: suits_log(lp).
    std::optional<std::uint16_t> save_in_log(const LpRecord& lp, std::byte* undo,
                                             std::byte* state) {
        const StateKeepingRules& rules = rules_of(lp);
        if (rules.copied_bytes > 0) copy_words(undo, plain_state(lp), rules.copied_bytes);
        if (!rules.saves_states()) return 0;
        const std::uint16_t bytes = write_state(lp, rules, state);
        if (bytes == 0) [[unlikely]] {
            if (lp.saved_states != nullptr) note_size(lp, small_state_bytes + 1);
            return std::nullopt;
        }
        ++taken_;
        taken_bytes_ += bytes;
        return bytes;
    }
    // Makes a saved state of the state that save_in_log() has written, for the newest entry of the
    // history.
    void take_from_log(LpRecord& lp, const std::byte* state, std::size_t bytes, PlatformHeap& heap);
    // Called after the execution of an event. `control`: the control word of the event.
    static void save_control(const StateKeepingRules& rules, std::byte* undo,
                             std::uint64_t control) noexcept {
        if (rules.keeps_control) std::memcpy(undo, &control, sizeof control);
    }
    // Called instead of save() for an event that has failed and cannot be undone. Makes no saved
    // state, because the handler may have left a very large state. Writes undo data as save() does.
    void save_failed(LpRecord& lp, HistoryEntry& entry, PlatformHeap& heap) {
        if (!saves_states(lp))
            save(lp, entry, heap);
        else if (lp.history.tail() - 1 == lp.save_due)
            ++lp.save_due;
    }
    // Whether there is a state to restore. If the LP saves states, there is no such state after
    // save_failed().
    bool can_restore(const LpRecord& lp) const noexcept {
        return !saves_states(lp) ||
               (lp.saved_states != nullptr && lp.saved_states->newest != nullptr);
    }

    // Restores the newest saved state at or before `position`, and drops the later saved states.
    // Returns the position of the restored state, from which the worker coasts forward. Requires:
    // saves_states(lp).
    History::Ordinal restore_saved_state(LpRecord& lp, History::Ordinal position,
                                         PlatformHeap& heap);

    // Restores the plain state of an entry. Requires: the rules copy it into each entry.
    void restore_copy(LpRecord& lp, HistoryEntry& entry) noexcept {
        copy_words(plain_state(lp), entry.undo(), rules_of(lp).copied_bytes);
    }
    // Restores the state at the position that `undoing` wants, by the method of the LP.
    void restore(Undoing& undoing) { rules_of(undoing.lp()).method->restore(*this, undoing); }

    // Called when the entries before `position` are final. Drops saved states that are not needed
    // any more, and may adapt the interval. Returns the position from which the history is still
    // needed: coasting forward starts at a saved state, which may be before `position`.
    History::Ordinal trim(LpRecord& lp, History::Ordinal position, PlatformHeap& heap) {
        return saves_states(lp) ? drop_states_before(lp, position, heap) : position;
    }

    // Adapts the interval from the measurements since the last adaptation. trim() does so, too. The
    // events before `position` are final. Requires: the LP has saved a state.
    void adapt(LpRecord& lp, History::Ordinal position) noexcept;
    // Drops the saved states of an LP whose executed events are all final. The next state is saved
    // before the LP's next event. The caller also drops the entries of the history.
    void drop_past(LpRecord& lp, PlatformHeap& heap) noexcept {
        if (saves_states(lp)) drop_all_states(lp, heap);
    }
    // Like drop_past(), and also drops the measurements, as if the LP had never executed an event.
    // Used if memory is short.
    void forget(LpRecord& lp, PlatformHeap& heap) noexcept;

    // Returns true if the LP saves no states, or if a state is saved before its next event. Then no
    // earlier saved state is needed to undo that event. Requires: all events that the LP has
    // executed are final.
    bool is_at_start(const LpRecord& lp) const noexcept {
        return !saves_states(lp) || lp.save_due == lp.history.tail();
    }

    // Estimated bytes of an executed event until it is committed, without the event itself and the
    // events that it sends.
    std::size_t bytes_per_event() const noexcept;

    // Returns whether trim() would free enough to justify an access to the LP's saved states. With
    // a short interval, trim() drops the saved states while they are in the cache.
    bool worth_trimming(const LpRecord& lp) const noexcept {
        const std::uint32_t interval = rules_of(lp).state_saving_interval;
        const std::uint32_t entries_worth_it = interval == 0 ? 8 : std::min(interval, 8u);
        return !saves_states(lp) || lp.committed - lp.history.head() >= entries_worth_it;
    }

    // Returns whether a commit of all executed events should drop the LP's whole past, which is
    // still in the cache. The next event saves a small state in any case.
    bool drops_past_early(const LpRecord& lp) const noexcept {
        return saves_states(lp) && lp.saved_states != nullptr && lp.saved_states->interval == 1 &&
               is_saved_at_each_event(*lp.saved_states);
    }

    // Returns whether to measure the cost of the event at `position`: one event in 16 of each LP.
    static bool wants_event_cost(const LpRecord& lp, History::Ordinal position) noexcept {
        return lp.saved_states != nullptr && (position & 15) == 15;
    }
    void event_cost(LpRecord& lp, float ns) noexcept;

    // Prefetches the data that save() and save_in_log() read.
    void prefetch_save(const LpRecord& lp) const noexcept {
        if (!saves_states(lp)) return;
        if (lp.saved_states != nullptr) prefetch(lp.saved_states, sizeof(SavedStates));
        lp.heap.prefetch_blocks();
    }
    // Prefetches the data that trim() reads. The caller has prefetched lp.saved_states.
    void prefetch_trim(const LpRecord& lp) const noexcept {
        if (lp.saved_states != nullptr) prefetch(lp.saved_states->newest);
    }

    // hand_over() is called when the LP, with its saved states, moves to another worker;
    // take_over() is called when the LP comes from another worker.
    void hand_over(const LpRecord& lp) noexcept {
        bytes_ -= bytes_held(lp);
        lps_saved_ -= lp.saved_states != nullptr ? 1 : 0;
    }
    void take_over(const LpRecord& lp) noexcept {
        lps_saved_ += lp.saved_states != nullptr ? 1 : 0;
        bytes_ += bytes_held(lp);
        bytes_peak_ = std::max(bytes_peak_, bytes_);
    }

    std::uint64_t saved_states() const noexcept { return taken_; }
    std::uint64_t bytes() const noexcept { return bytes_; }  // held now
    static std::uint64_t bytes_held(const LpRecord& lp) noexcept;
    std::uint64_t bytes_peak() const noexcept { return bytes_peak_; }

  private:
    static bool is_small(const SavedStates& kept) noexcept {
        return kept.bytes_most <= small_state_bytes;
    }
    // Whether the LP's adapted interval is 1. The state must be small. In addition, the run must
    // use the log (decision 0041), or more than lps_in_cache LPs of the worker must have saved
    // states. With more such LPs, the past of an LP leaves the cache before the LP's next event
    // (decision 0038).
    bool is_saved_at_each_event(const SavedStates& kept) const noexcept {
        return is_small(kept) && (uses_log_ || lps_saved_ > lps_in_cache);
    }
    static constexpr std::uint64_t lps_in_cache = 8192;
    void drop_all_states(LpRecord& lp, PlatformHeap& heap) noexcept;
    std::uint16_t write_state(const LpRecord& lp, const StateKeepingRules& rules,
                              std::byte* state) const noexcept;
    SavedStates& states_of(LpRecord& lp, PlatformHeap& heap);
    void note_size(const LpRecord& lp, std::uint64_t bytes) const noexcept;
    void add(LpRecord& lp, SavedState* saved, History::Ordinal position,
             std::uint64_t bytes) noexcept;

    std::byte* plain_state(const LpRecord& lp) const noexcept {
        return static_cast<std::byte*>(rules_of(lp).state_of(lp.process));
    }

    // For small plain states. memcpy() with a size that is not constant is a call, which takes
    // longer than copying four words.
    static void copy_words(std::byte* to, const std::byte* from, std::uint32_t bytes) noexcept {
        if (bytes > 32) {
            std::memcpy(to, from, bytes);
        } else if (bytes >= 8) {
            for (std::uint32_t i = 0; i + 8 <= bytes; i += 8) std::memcpy(to + i, from + i, 8);
            std::memcpy(to + bytes - 8, from + bytes - 8, 8);
        } else {
            for (std::uint32_t i = 0; i < bytes; ++i) to[i] = from[i];
        }
    }

    void take_due(LpRecord& lp, History::Ordinal position, PlatformHeap& heap);
    void take(LpRecord& lp, History::Ordinal position, PlatformHeap& heap);
    History::Ordinal drop_states_before(LpRecord& lp, History::Ordinal position,
                                        PlatformHeap& heap);
    void drop(LpRecord& lp, SavedState* saved, PlatformHeap& heap) noexcept;
    void free_saved_states(LpRecord& lp, PlatformHeap& heap) noexcept;

    std::vector<StateKeepingRules> rules_;  // by kind
    const bool uses_log_;
    std::uint64_t taken_ = 0;
    std::uint64_t taken_bytes_ = 0;
    std::uint64_t bytes_ = 0;  // held now
    std::uint64_t bytes_peak_ = 0;
    std::uint64_t lps_saved_ = 0;  // LPs that have saved states, or have had some
};

}  // namespace nw
