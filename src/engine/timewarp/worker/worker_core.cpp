// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/worker_core.hpp"

#include <algorithm>

#include <numawarp/send_buffer.hpp>

#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/validate.hpp"
#include "memory/handler/heap_scope.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/statistics/run_history.hpp"
#include "util/check.hpp"

namespace nw {

WorkerCore::WorkerCore(Rank& shared, WorkerId id)
    : rank(shared),
      plan(shared.plan()),
      self{static_cast<std::uint16_t>(index(shared.id())), static_cast<std::uint16_t>(index(id))},
      is_alone(plan.is_alone()),
      uses_log(plan.config.checked == nullptr && !plan.kinds.has_end_condition()),
      stride(plan.state_keeping.front().entry_stride),
      irrevocable_entry_bytes(std::make_unique<std::byte[]>(stride)),
      short_events(plan.until, plan.rules.lookahead, plan.rules.payload_bytes_max),
      keeper(plan.state_keeping, uses_log),
      log(stride - sizeof(HistoryEntry),
          keeper.some_save_states() ? StateKeeper::state_in_log_max : 0,
          std::min(plan.rules.payload_bytes_max, detail::ShortBody::payload_bytes_max),
          plan.config.past_log_bytes),
      trace(shared.trace_spans_max()) {
    figures.events.resize(plan.kinds.slots().size());
    if (plan.measure_times.on())
        intervals = std::make_unique<IntervalSums>(plan.setup.measures, plan.measure_times);
}

WorkerCore::~WorkerCore() = default;

std::uint64_t WorkerCore::events_uncommitted() const noexcept {
    const auto events = static_cast<std::int64_t>(counters[Counter::executed_events] -
                                                  counters[Counter::rolled_back_events] -
                                                  counters[Counter::committed_events]) +
                        uncommitted_taken_over;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, events));
}

void WorkerCore::count_saved_states() noexcept {
    counters[Counter::saved_states] += keeper.saved_states();
    std::uint64_t& peak = counters[Counter::saved_states_bytes_peak];
    peak = std::max<std::uint64_t>(peak, keeper.bytes_peak());
}

void WorkerCore::forget(Group& group, LpRecord& lp) {
    drop_history(group, lp);
    keeper.forget(lp, group.heap);
}

// A saved state may exist although the history is empty. This happens after a rollback to the
// state's position.
void WorkerCore::drop_history(Group& group, LpRecord& lp) {
    collect_fossils_before(group, lp, lp.committed);
    lp.history.release(stride, group.heap);
    lp.newest_in_log = 0;
    keeper.drop_past(lp, group.heap);
}

void WorkerCore::add_most_rolled_back_lps(std::vector<RolledBackLp>& lps) const {
    for (const Group* group : groups)
        for (std::size_t i = 0; i < group->rolled_back.size(); ++i)
            keep_worst(lps, {group->rolled_back[i], group->lps[i].id, self.rank, self.worker});
}

LpExpectations WorkerCore::expectations(bool is_canceling) const noexcept {
    // Another worker that has already read a newer GVT may have handed over groups that are
    // committed up to the newer GVT.
    const bool there_is_news = rank.gvt().done() != epochs.seen();
    return {.keeping = keeper.rules(),
            .payload_bytes_max = static_cast<std::uint32_t>(plan.rules.payload_bytes_max),
            .log = &log,
            .gvt = there_is_news ? rank.gvt().result().gvt : gvt,
            .safe_before = safe_before_most.time,
            .final_before = std::max(commit_bound, start_of(irrevocable_before)),
            .is_canceling = is_canceling};
}

// The message of a failed check contains the LP.
void WorkerCore::check_change(const LpRecord& lp, bool is_canceling) {
    const PlatformScope platform;
    ErrorContext& here = error_context();
    here.lp = lp.id;
    here.time = lp.last_key.time;
    const LpExpectations known = expectations(is_canceling);
    if (walks.count_change())
        validate_whole(lp, known);
    else
        validate_newest(lp, known);
    here.lp = -1;
    here.time = 0;
}

}  // namespace nw
