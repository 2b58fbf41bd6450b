// SPDX-License-Identifier: Apache-2.0
#include "lp/rollback_methods.hpp"

#include <algorithm>

#include <numawarp/model.hpp>

#include "lp/lp_record.hpp"
#include "lp/state_keeping.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// Maximum size of plain states that are copied into every history entry. Copying two cache lines
// takes about 5 ns per event. The alternative is to save a state every 32 events. If a save takes
// 100 ns, saving takes 3 ns per event. If an LP is rolled back once in 500 events, coasting forward
// over 16 events of 65 ns takes another 2 ns per event. So 128 bytes is the break-even size. The
// size would be smaller with fewer rollbacks, and larger with more rollbacks.
constexpr std::uint32_t undo_bytes_max = 128;

// Plain states above this size are in large chunks of the LP's heap. A snapshot of such a chunk
// stores only the pages that have changed since the last snapshot. If an event changes 4 KiB of 1
// MiB, a snapshot takes a quarter of the time of a copy (decision 0024).
constexpr std::uint32_t copied_state_bytes_max = 8192;

// Restores the newest saved state, and coasts forward. If the LP has failed irrevocably, nothing is
// restored: the undone events are later than the failure, and have executed nothing.
void restore_saved(StateKeeper& keeper, Undoing& undoing) {
    undoing.take_back_all();
    LpRecord& lp = undoing.lp();
    if (!keeper.can_restore(lp)) return;
    while (!undoing.coast(keeper.restore_saved_state(lp, undoing.wanted(), undoing.heap()))) {
    }
}

class SnapshotMethod final : public RollbackMethod {
  public:
    constexpr SnapshotMethod() noexcept
        : RollbackMethod(Rollback::snapshot, "snapshot", "", "", true, true) {}
    bool supports(const ProcessFactory&) const noexcept override { return true; }
    StateKeepingRules rules(const ProcessFactory&, std::uint32_t interval) const override {
        StateKeepingRules rules(*this);
        rules.saved = StateKeepingRules::Saved::snapshots;
        rules.state_saving_interval = interval;
        return rules;
    }
    void restore(StateKeeper& keeper, Undoing& undoing) const override {
        restore_saved(keeper, undoing);
    }
};

class CopyMethod final : public RollbackMethod {
  public:
    constexpr CopyMethod() noexcept
        : RollbackMethod(Rollback::copy, "copy", "LPs derived from nw::PlainStateProcess",
                         "State outside of PlainState", true, true) {}
    bool supports(const ProcessFactory& factory) const noexcept override {
        return factory.state_bytes > 0;
    }
    // Small states are copied into the entry of each event.
    StateKeepingRules rules(const ProcessFactory& factory, std::uint32_t interval) const override {
        StateKeepingRules rules(*this);
        rules.state_of = factory.state_of;
        rules.state_bytes = static_cast<std::uint32_t>(factory.state_bytes);
        rules.state_saving_interval = interval;
        if (interval <= 1 && rules.state_bytes <= undo_bytes_max)
            rules.set_undo_bytes(rules.copied_bytes = rules.state_bytes);
        else if (rules.state_bytes <= copied_state_bytes_max)
            rules.saved = StateKeepingRules::Saved::copies;
        else
            rules.saved = StateKeepingRules::Saved::snapshots;
        return rules;
    }
    void restore(StateKeeper& keeper, Undoing& undoing) const override {
        if (keeper.saves_states(undoing.lp())) return restore_saved(keeper, undoing);
        undoing.take_back_all();
        keeper.restore_copy(undoing.lp(), undoing.entry_at(undoing.wanted()));
    }
};

class ReverseMethod final : public RollbackMethod {
  public:
    constexpr ReverseMethod() noexcept
        : RollbackMethod(Rollback::reverse, "reverse", "LPs with on_reverse", "A reverse handler",
                         false, false) {}
    bool supports(const ProcessFactory& factory) const noexcept override {
        return factory.has_reverse;
    }
    StateKeepingRules rules(const ProcessFactory&, std::uint32_t) const override {
        StateKeepingRules rules(*this);
        rules.keeps_control = true;
        rules.set_undo_bytes(sizeof(std::uint64_t));
        return rules;
    }
    // A failed event is not undone: on_reverse() undoes whole events.
    void restore(StateKeeper&, Undoing& undoing) const override {
        while (HistoryEntry* const entry = undoing.take_back_newest())
            if (!entry->event->failed) undoing.call_on_reverse(*entry);
    }
};

constinit const SnapshotMethod snapshot_method;
constinit const CopyMethod copy_method;
constinit const ReverseMethod reverse_method;
const RollbackMethod* const methods[] = {&snapshot_method, &copy_method, &reverse_method};

}  // namespace

std::span<const RollbackMethod* const> rollback_methods() noexcept { return methods; }

const RollbackMethod* find_rollback_method(Rollback value) noexcept {
    const auto* const found = std::ranges::find(
        methods, value, [](const RollbackMethod* method) { return method->value; });
    return found == std::end(methods) ? nullptr : *found;
}

const RollbackMethod& method_of(Rollback value) {
    const RollbackMethod* const method = find_rollback_method(value);
    NW_CHECK(method != nullptr);
    return *method;
}

}  // namespace nw
