// SPDX-License-Identifier: Apache-2.0
// The invariants of an InOrderExecutor, checked between two batches of events (util/paranoid.hpp).

#include "engine/inorder/in_order_executor.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/heap/lp_heap.hpp"
#include "util/check.hpp"

namespace nw {

void InOrderExecutor::check_if_due() {
    const std::uint64_t executed = counters_[Counter::executed_events];
    walks_.count_changes(executed - counted_events_);
    counted_events_ = executed;
    if (walks_.is_due()) walks_.walked(validate());
}

std::uint64_t InOrderExecutor::validate() const {
    const PlatformScope platform;
    NW_CHECK(sent_ == nullptr);
    const Partition& partition = world_.plan.partition;
    std::uint64_t things = pending_.size();
    std::uint64_t lps_not_ended = 0;
    for (const Group* group : groups_) {
        const std::uint32_t g = group->mail.group();
        NW_CHECK(owns(g));
        for (std::uint32_t i = 0; i < group->count; ++i) {
            const LpRecord& lp = group->lps[i];
            NW_CHECK(partition.position(lp.id).group == g);
            NW_CHECK(partition.position(lp.id).index == i);
            NW_CHECK(lp.history.empty());  // this engine undoes nothing
            lp.heap.validate();
            things += 8 + lp.heap.used_bytes() / 1024;
        }
        lps_not_ended += not_ended(*group);
        group->memory.validate();
        world_.groups[g]->mail.validate();
        things += 64 + group->heap.free_bytes() / 256;
    }
    NW_CHECK(lps_not_ended == lps_not_ended_);
    NW_CHECK(pending_.validate());
    pending_.for_each([&](const PendingEntry& entry) {
        NW_CHECK(!entry.has_record() || entry.key() == entry.record()->key());
        NW_CHECK(!entry.has_record() || entry.target == entry.record()->target);
        NW_CHECK(entry.has_record() || entry.is_bare() == (header_of(entry).payload_bytes == 0));
        NW_CHECK(entry.time >= last_time_);
        NW_CHECK(entry.time < world_.plan.until || world_.plan.may_have_events_beyond_end());
        NW_CHECK(owns(partition.position(entry.target).group));
    });
    return things;
}

}  // namespace nw
