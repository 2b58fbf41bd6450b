#include "lp/state_keeping.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>

#include "base/check.hpp"
#include "numa/heap/lp_heap.hpp"

namespace nw {
namespace {

// Plain states up to this size are copied into every history entry: cheaper than the bookkeeping of
// a checkpoint and than one coasted event. Unmeasured guess.
constexpr std::uint32_t undo_bytes_max = 128;

// Coasting over more events than this makes a rollback after a calm phase too dear, and the history
// of committed events that it needs too long.
constexpr std::uint32_t interval_max = 32;

constexpr float smoothing = 0.2f;

float smooth(float mean, float sample) noexcept {
    return mean == 0 ? sample : mean + smoothing * (sample - mean);
}

using Clock = std::chrono::steady_clock;

float ns_since(Clock::time_point start) noexcept {
    return std::chrono::duration<float, std::nano>(Clock::now() - start).count();
}

}  // namespace

StateKeepingRules StateKeepingRules::choose(Rollback method, const ProcessFactory& factory,
                                            std::uint32_t state_saving_interval) {
    StateKeepingRules rules;
    rules.method = method;
    rules.state_saving_interval = state_saving_interval;
    rules.state_of = factory.state_of;
    rules.state_bytes = static_cast<std::uint32_t>(factory.state_bytes);
    std::uint32_t undo_bytes = 0;
    if (method == Rollback::reverse) {
        undo_bytes = sizeof(std::uint64_t);
    } else if (method == Rollback::copy && state_saving_interval <= 1 &&
               rules.state_bytes <= undo_bytes_max) {
        undo_bytes = rules.state_bytes;
    }
    rules.undo_in_entry = undo_bytes > 0;
    rules.entry_stride = sizeof(HistoryEntry) + ((undo_bytes + 7) & ~7u);
    return rules;
}

void StateKeeper::take_due(LpRecord& lp, PlatformHeap& heap) {
    const History::Ordinal position = lp.history.tail() - 1;  // the entry about to be executed
    if (lp.failed) {
        ++lp.checkpoint_due;  // not a state to keep
        return;
    }
    if (lp.checkpoints == nullptr) {
        lp.checkpoints = new (heap.allocate(sizeof(Checkpoints))) Checkpoints{};
        lp.checkpoints->adapted_at = lp.committed;
        if (rules_.state_saving_interval > 0)
            lp.checkpoints->interval = rules_.state_saving_interval;
    }
    Checkpoints& kept = *lp.checkpoints;
    const bool measured = kept.checkpoint_ns == 0 || (taken_ & 7) == 0;
    const auto start = measured ? Clock::now() : Clock::time_point{};
    take(lp, position, heap);
    if (measured) kept.checkpoint_ns = smooth(kept.checkpoint_ns, ns_since(start));
}

void StateKeeper::take(LpRecord& lp, History::Ordinal position, PlatformHeap& heap) {
    const bool plain = rules_.method == Rollback::copy;
    const std::size_t bytes = sizeof(Checkpoint) + (plain ? rules_.state_bytes : 0);
    auto* checkpoint = static_cast<Checkpoint*>(heap.allocate(bytes));
    checkpoint->position = position;
    checkpoint->older = lp.checkpoints->newest;
    if (plain) {
        checkpoint->snapshot = nullptr;
        checkpoint->bytes = bytes;
        std::memcpy(checkpoint->state(), rules_.state_of(lp.process), rules_.state_bytes);
    } else {
        checkpoint->snapshot = lp.heap->take(heap);
        checkpoint->bytes = bytes + lp.heap->snapshot_bytes();
    }
    lp.checkpoints->newest = checkpoint;
    lp.checkpoint_due = position + lp.checkpoints->interval;
    ++taken_;
    taken_bytes_ += checkpoint->bytes;
    bytes_ += checkpoint->bytes;
    bytes_peak_ = std::max(bytes_peak_, bytes_);
}

std::uint64_t StateKeeper::bytes_held(const LpRecord& lp) noexcept {
    std::uint64_t bytes = 0;
    if (lp.checkpoints == nullptr) return bytes;
    for (const Checkpoint* c = lp.checkpoints->newest; c != nullptr; c = c->older)
        bytes += c->bytes;
    return bytes;
}

void StateKeeper::drop(LpRecord& lp, Checkpoint* checkpoint, PlatformHeap& heap) noexcept {
    bytes_ -= checkpoint->bytes;
    std::size_t bytes = sizeof(Checkpoint);
    if (checkpoint->snapshot != nullptr) {
        lp.heap->drop(checkpoint->snapshot, heap);
    } else {
        bytes += rules_.state_bytes;
    }
    heap.free(checkpoint, bytes);
}

History::Ordinal StateKeeper::restore_checkpoint(LpRecord& lp, History::Ordinal position,
                                                 PlatformHeap& heap) {
    Checkpoints& kept = *lp.checkpoints;
    ++kept.rollbacks;
    // Positions are compared by distance: ordinals wrap.
    while (static_cast<std::int32_t>(kept.newest->position - position) > 0) {
        Checkpoint* dropped = kept.newest;
        kept.newest = dropped->older;
        drop(lp, dropped, heap);
        NW_CHECK(kept.newest != nullptr);
    }
    if (kept.newest->snapshot != nullptr) {
        lp.heap->restore(*kept.newest->snapshot);
    } else {
        std::memcpy(rules_.state_of(lp.process), kept.newest->state(), rules_.state_bytes);
    }
    lp.checkpoint_due = kept.newest->position + kept.interval;
    // Where the restored position lies beyond that (the interval has shrunk), at once.
    if (static_cast<std::int32_t>(lp.checkpoint_due - position) < 0) lp.checkpoint_due = position;
    return kept.newest->position;
}

History::Ordinal StateKeeper::trim(LpRecord& lp, History::Ordinal position, PlatformHeap& heap) {
    if (!uses_checkpoints()) return position;
    Checkpoint* base = lp.checkpoints->newest;
    while (static_cast<std::int32_t>(base->position - position) > 0) base = base->older;
    for (Checkpoint* old = base->older; old != nullptr;) {
        Checkpoint* older = old->older;
        drop(lp, old, heap);
        old = older;
    }
    base->older = nullptr;
    adapt(lp);
    return base->position;
}

void StateKeeper::forget(LpRecord& lp, PlatformHeap& heap) noexcept {
    if (!uses_checkpoints()) return;
    if (lp.checkpoints != nullptr) {
        for (Checkpoint* old = lp.checkpoints->newest; old != nullptr;) {
            Checkpoint* older = old->older;
            drop(lp, old, heap);
            old = older;
        }
        heap.free(lp.checkpoints, sizeof(Checkpoints));
        lp.checkpoints = nullptr;
    }
    begin(lp);
}

std::size_t StateKeeper::bytes_per_event() const noexcept {
    return rules_.entry_stride + (taken_ > 0 ? taken_bytes_ / taken_ : 0);
}

void StateKeeper::adapt(LpRecord& lp) noexcept {
    if (rules_.state_saving_interval > 0) return;
    Checkpoints& kept = *lp.checkpoints;
    constexpr std::uint32_t enough_events = 32;
    const std::uint32_t events = lp.committed - kept.adapted_at;
    if (events < enough_events || kept.checkpoint_ns == 0 || kept.event_ns == 0) return;
    if (kept.rollbacks == 0) {
        kept.interval = std::min(interval_max, kept.interval * 2);
    } else {
        const double best = std::ceil(
            std::sqrt(2.0 * events / kept.rollbacks * kept.checkpoint_ns / kept.event_ns));
        kept.interval =
            static_cast<std::uint32_t>(std::clamp(best, 1.0, static_cast<double>(interval_max)));
    }
    kept.adapted_at = lp.committed;
    kept.rollbacks = 0;
}

void StateKeeper::event_cost(LpRecord& lp, float ns) noexcept {
    lp.checkpoints->event_ns = smooth(lp.checkpoints->event_ns, ns);
}

}  // namespace nw
