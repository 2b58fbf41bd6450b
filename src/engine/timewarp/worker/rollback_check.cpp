// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/rollback_check.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/state_difference.hpp"
#include "util/check.hpp"

namespace nw {

RollbackCheck::RollbackCheck(WorkerCore& core, Rollbacks& rollbacks)
    : core_(core), rollbacks_(rollbacks), is_on_(core.plan.config.check_rollback > 0) {}

bool RollbackCheck::chooses(const LpRecord& lp, const EventRecord& event) const noexcept {
    if (event.rollback_tried || lp.failed) return false;
    Random dice(core_.plan.config.seed, event.sender, event.serial);
    return dice.chance(core_.plan.config.check_rollback);
}

void RollbackCheck::begin(Group& group, LpRecord& lp, EventRecord& event) {
    event.rollback_tried = true;
    image_ = lp.heap.take(group.heap);
    random_counter_ = lp.random_counter;
    sequence_ = lp.sequence;
}

void RollbackCheck::end(Group& group, LpRecord& lp, const EventRecord& event) {
    if (!lp.failed) {
        const bool is_there = rollbacks_.roll_back_newest(group, lp);
        ++core_.counters[Counter::forced_rollbacks];
        const std::string found = is_there ? difference(lp) : "";
        if (!found.empty() && core_.keeper.rules_of(lp).method->rule_at_risk.empty())
            throw InternalError(describe_event(event, core_.plan.kinds) +
                                "a rollback did not restore the LP's state: " + found +
                                " (or the model keeps state outside of the LP, or runs threads)");
        if (!found.empty())
            throw ModelError(describe_event(event, core_.plan.kinds) +
                             "--check-rollback: the state after the rollback differs from the "
                             "state before the event: " +
                             found);
    }
    drop(group);
}

void RollbackCheck::drop(Group& group) noexcept {
    if (image_ != nullptr) LpHeap::drop(std::exchange(image_, nullptr), group.heap);
}

// Describes how the LP differs from its state before the event; empty if it does not differ.
std::string RollbackCheck::difference(const LpRecord& lp) const {
    if (!lp.heap.equals(*image_)) {
        const std::optional<std::string> where =
            describe_difference(lp.heap, *image_, lp.process,
                                core_.plan.kinds.object_bytes(lp.kind), core_.rank.stacks());
        if (where) return where->empty() ? "its heap" : *where;
    }
    if (lp.random_counter != random_counter_)
        return fmt::format("the count of random numbers was {} and is {} now", random_counter_,
                           lp.random_counter);
    if (lp.sequence != sequence_)
        return fmt::format("the count of sent events was {} and is {} now", sequence_, lp.sequence);
    return {};
}

}  // namespace nw
