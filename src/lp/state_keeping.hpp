// How an LP's state comes back: the three methods of --rollback behind two questions, "what is saved
// before an event" and "what is restored, and from which event on must be executed again".
//
//   reverse   one control word in each history entry; on_reverse undoes event by event
//   copy      a plain state: its bytes in each history entry while they are few; larger ones as
//             saved states every χ events
//   snapshot  whatever the LP allocated: LpHeap snapshots every χ events
//
// χ adapts to each LP: ⌈√(2 · events/rollbacks · cost of saving a state/cost of an event)⌉ (the
// square-root rule of Lin, Preiss, Loucks, Lazowska: "Selecting the checkpoint interval in Time Warp
// simulation", PADS 1993). Events between the saved state and the wanted position are executed again
// with sends silenced (coast forward); that is the worker's part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <numawarp/rollback.hpp>

#include "lp/lp_record.hpp"

namespace nw {

struct ProcessFactory;
struct Snapshot;

// A saved state at a position of the history. For `copy` the state's bytes follow.
struct SavedState {
    SavedState* older;
    Snapshot* snapshot;  // null for plain copies
    History::Ordinal position;

    std::byte* state() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

// An LP's saved states, newest first, and what its interval is adapted from.
struct SavedStates {
    SavedState* newest = nullptr;     // null where the history is empty
    std::uint64_t bytes = 0;          // of all, what they share counted once
    std::uint32_t interval = 8;       // events from one saved state to the next
    History::Ordinal adapted_at = 0;  // committed events at the last adaptation
    std::uint32_t rollbacks = 0;      // since then
    float save_ns = 0;                // running means, 0 until measured
    float event_ns = 0;
};

// Fixed for a run.
struct StateKeepingRules {
    Rollback method = Rollback::snapshot;
    std::uint32_t state_bytes = 0;            // of a plain state
    std::uint32_t state_saving_interval = 0;  // 0: adaptive
    bool undo_in_entry = false;               // plain bytes or control word in each history entry
    std::uint32_t entry_stride = sizeof(HistoryEntry);
    void* (*state_of)(LogicalProcess*) = nullptr;

    static StateKeepingRules choose(Rollback method, const ProcessFactory& factory,
                                    std::uint32_t state_saving_interval);
};

// One worker's hand in it. Thread: the worker.
class StateKeeper {
  public:
    // `rules`: of each kind of LPs.
    explicit StateKeeper(std::vector<StateKeepingRules> rules) : rules_(std::move(rules)) {}

    const std::vector<StateKeepingRules>& rules() const noexcept { return rules_; }
    Rollback method(const LpRecord& lp) const noexcept { return rules_of(lp).method; }
    bool saves_states(const LpRecord& lp) const noexcept { return !rules_of(lp).undo_in_entry; }

    // Called once, after the LP was built. Nothing is kept of an LP before its first event.
    // Requires: nothing that was executed may still be rolled back, and nothing is kept.
    void begin(LpRecord& lp) noexcept { lp.save_due = lp.history.tail(); }
    // The same of an LP that another run has had, perhaps with other rules: what was learnt of it is kept where
    // it is of use. Requires: its past was dropped.
    void go_on(LpRecord& lp, PlatformHeap& heap) noexcept;

    // Called before the event of the newest entry is executed.
    void save(LpRecord& lp, HistoryEntry& entry, PlatformHeap& heap) {
        const StateKeepingRules& rules = rules_of(lp);
        if (rules.method == Rollback::reverse) return;
        if (rules.undo_in_entry) {
            copy_words(entry.undo(), plain_state(lp), rules.state_bytes);
        } else {
            if (lp.history.tail() - 1 == lp.save_due) [[unlikely]]
                take_due(lp, heap);
        }
    }

    // The newest saved state at or before `position` is brought back; later ones are dropped.
    // Returns its position: coast forward from there. Requires: saves_states(lp).
    History::Ordinal restore_saved_state(LpRecord& lp, History::Ordinal position,
                                         PlatformHeap& heap);

    // The plain state of an entry is brought back. Requires: copy, undo_in_entry.
    void restore_undo(LpRecord& lp, HistoryEntry& entry) noexcept {
        copy_words(plain_state(lp), entry.undo(), rules_of(lp).state_bytes);
    }

    // Entries before `position` will never be rolled back. Returns the position before which the
    // history is not needed any more (coasting starts at a saved state, which may be older).
    History::Ordinal trim(LpRecord& lp, History::Ordinal position, PlatformHeap& heap);

    // Drops the saved states of an LP whose past is final: its next event will be preceded by one.
    // Requires: history empty.
    void drop_past(LpRecord& lp, PlatformHeap& heap) noexcept;
    // Also what was learnt of the LP, as if it had never executed anything. For when memory is short.
    void forget(LpRecord& lp, PlatformHeap& heap) noexcept;

    // Whether nothing but the LP's state as it is now is needed from its next event on: that, if it is not
    // executed for good, will be preceded by a saved state. Requires: all that it has executed is final.
    bool is_at_start(const LpRecord& lp) const noexcept {
        return !saves_states(lp) || lp.save_due == lp.history.tail();
    }

    // About what an executed event takes besides itself and what it sends, until it is committed.
    std::size_t bytes_per_event() const noexcept;

    // Whether trim() would free enough to be worth touching the LP's saved states.
    bool worth_trimming(const LpRecord& lp) const noexcept {
        constexpr std::uint32_t entries_worth_it = 8;
        return !saves_states(lp) || lp.committed - lp.history.head() >= entries_worth_it;
    }

    // Whether the cost of this execution is to be measured: one in 16 of an LP.
    bool wants_event_cost(const LpRecord& lp) const noexcept {
        return lp.saved_states != nullptr && (lp.history.tail() & 15) == 0;
    }
    void event_cost(LpRecord& lp, float ns) noexcept;

    // Hint to the cache. Requires: the LP has saved states already.
    void prefetch_trim(const LpRecord& lp) const noexcept {
        if (lp.saved_states != nullptr) prefetch(lp.saved_states->newest);
    }

    // The LP, with its saved states, goes to another worker's keeper, or comes from one.
    void hand_over(const LpRecord& lp) noexcept { bytes_ -= bytes_held(lp); }
    void take_over(const LpRecord& lp) noexcept {
        bytes_ += bytes_held(lp);
        bytes_peak_ = std::max(bytes_peak_, bytes_);
    }

    std::uint64_t saved_states() const noexcept { return taken_; }
    std::uint64_t bytes() const noexcept { return bytes_; }  // held now
    static std::uint64_t bytes_held(const LpRecord& lp) noexcept;
    std::uint64_t bytes_peak() const noexcept { return bytes_peak_; }

  private:
    const StateKeepingRules& rules_of(const LpRecord& lp) const noexcept { return rules_[lp.kind]; }
    std::byte* plain_state(const LpRecord& lp) const noexcept {
        return static_cast<std::byte*>(rules_of(lp).state_of(lp.process));
    }

    // A small plain state: cheaper than a call of memcpy.
    static void copy_words(std::byte* to, const std::byte* from, std::uint32_t bytes) noexcept {
        std::uint32_t i = 0;
        for (; i + 8 <= bytes; i += 8) std::memcpy(to + i, from + i, 8);
        for (; i < bytes; ++i) to[i] = from[i];
    }

    void take_due(LpRecord& lp, PlatformHeap& heap);
    void take(LpRecord& lp, History::Ordinal position, PlatformHeap& heap);
    void adapt(LpRecord& lp) noexcept;
    void drop(LpRecord& lp, SavedState* saved, PlatformHeap& heap) noexcept;

    std::vector<StateKeepingRules> rules_;  // by kind
    std::uint64_t taken_ = 0;
    std::uint64_t taken_bytes_ = 0;
    std::uint64_t bytes_ = 0;  // held now
    std::uint64_t bytes_peak_ = 0;
};

}  // namespace nw
