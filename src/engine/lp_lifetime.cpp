// SPDX-License-Identifier: Apache-2.0
#include "engine/lp_lifetime.hpp"

#include <new>
#include <string>

#include <fmt/format.h>

#include "engine/handler_call.hpp"
#include "results/measures/measure_sums.hpp"

namespace nw {
namespace {

[[noreturn]] void fail_building(const LpRecord& lp, const RunPlan& plan, std::string_view what) {
    throw SetupError(fmt::format("building {} failed: {}", plan.kinds.name(lp.id), what));
}

// The functions that call the model are not inlined into the functions that call sigsetjmp(). So
// the frame to which a fault jumps has no std::string. The fault abandons the frame of the inner
// function while the string in this frame is still empty.

// Requires: the LP is the last of its group. The caller counts the LP when it is complete.
[[gnu::noinline]] void build_lp(LpRecord& record, const RunPlan& plan, FaultGuard& guard) {
    std::string failure;
    const HandlerEnd end = run_armed(guard, &record.heap, [&] {
        record.process = plan.kinds[record.kind].process.build(LpId{record.id});
    });
    if (end == HandlerEnd::out_of_memory)
        throw MachineError(
            fmt::format("out of memory while {} of {} LPs was constructed; allowed: a smaller "
                        "model, or more memory (a larger `ulimit -v`, if one is set)",
                        plan.kinds.name(record.id), plan.rules.lps));
    if (!describe_end(guard, end, failure)) fail_building(record, plan, failure);
    if (record.process == nullptr)
        fail_building(record, plan, "the factory returned no object; allowed: nw::process<Lp>()");
}

// Requires: the LP whose destructor failed is no longer counted. The other LPs of the group are
// dropped.
[[noreturn]] void fail_destroying(Group& group, const RunPlan& plan, std::string_view what) {
    const std::uint32_t failed = group.lps[group.count].id;
    group.count = 0;
    throw ModelError(fmt::format("{} in its destructor: {}", plan.kinds.name(failed), what));
}

// The LP is removed from the count before its destructor begins, because a destructor must run only
// once.
[[gnu::noinline]] void destroy_last(Group& group, const RunPlan& plan, FaultGuard& guard) {
    std::string failure;
    LpRecord& lp = group.lps[--group.count];
    if (!call_guarded(guard, &lp.heap, failure, [&] { lp.process->~LogicalProcess(); }))
        fail_destroying(group, plan, failure);
}

void destroy_lps_of(Group& group, const RunPlan& plan, const std::atomic<int>& stop_signal,
                    FaultGuard& guard) {
    if (sigsetjmp(guard.env(), 0) != 0) fail_destroying(group, plan, leave_crashed_handler(guard));
    while (group.count > 0 && stop_signal.load(std::memory_order_relaxed) == 0)
        destroy_last(group, plan, guard);
    group.count = 0;
}

[[noreturn]] void fail(const RunningCall& call, const RunPlan& plan, std::string_view what) {
    throw ModelError(describe_call(call, plan.kinds).append(what));
}

template <class Hook>
[[gnu::noinline]] void call_hook(const RunningCall& call, const RunPlan& plan, Context& context,
                                 FaultGuard& guard, Hook&& hook) {
    std::string failure;
    if (!call_handler_of(*call.lp, guard, failure, hook)) fail(call, plan, failure);
    call.lp->random_counter = context.random().counter();
}

[[gnu::noinline]] void look_guarded(const RunningCall& call, const RunPlan& plan, FaultGuard& guard,
                                    IntervalSums& intervals, std::uint32_t first,
                                    std::uint32_t end) {
    std::string failure;
    if (!call_handler_of(*call.lp, guard, failure,
                         [&] { intervals.sample(*call.lp->process, first, end); }))
        fail(call, plan, failure);
    intervals.add(intervals.last_sample());
}

void look_at_lp(const RunningCall& call, const RunPlan& plan, FaultGuard& guard,
                IntervalSums& intervals, std::uint32_t first, std::uint32_t end) {
    if (sigsetjmp(guard.env(), 0) != 0) fail(call, plan, leave_crashed_handler(guard));
    look_guarded(call, plan, guard, intervals, first, end);
}

}  // namespace

void build_lps(Group& group, const RunPlan& plan, MemoryBudget* budget, RunningCall& call,
               FaultGuard& guard) {
    call = {.group = &group, .hook = "its constructor"};
    const std::vector<std::uint32_t> members = plan.partition.members(group.mail.group());
    group.lps = static_cast<LpRecord*>(group.heap.allocate(members.size() * sizeof(LpRecord)));
    if (sigsetjmp(guard.env(), 0) != 0)
        fail_building(group.lps[group.count], plan, leave_crashed_handler(guard));
    for (const std::uint32_t lp : members) {
        LpRecord& record =
            *new (&group.lps[group.count]) LpRecord(group.memory, lp, plan.kinds.number_of(lp));
        build_lp(record, plan, guard);
        ++group.count;
        if (budget != nullptr) budget->note_built();
    }
    if (plan.measure_times.on()) group.intervals_seen.assign(group.count, 0);
    call = {};
}

void call_on_start(const RunningCall& call, const RunPlan& plan, Context& context,
                   FaultGuard& guard) {
    if (sigsetjmp(guard.env(), 0) != 0) fail(call, plan, leave_crashed_handler(guard));
    call_hook(call, plan, context, guard, [&] {
        call.lp->process->on_start(context);
        if (plan.kinds.has_end_condition()) call.lp->ended = call.lp->process->can_end();
    });
}

void sample_intervals(const std::vector<Group*>& groups, const RunPlan& plan, VirtualTime now,
                      RunningCall& call, FaultGuard& guard, IntervalSums& intervals) {
    if (!plan.measure_times.on()) return;
    const std::uint32_t ended = plan.measure_times.ended_by(now);
    for (Group* group : groups) {
        for (std::uint32_t i = 0; i < group->count; ++i) {
            std::uint32_t& seen = group->intervals_seen[i];
            if (seen >= ended) continue;
            call = {.group = group,
                    .lp = &group->lps[i],
                    .hook_key = {.time = now},
                    .hook = "a measure"};
            look_at_lp(call, plan, guard, intervals, seen, ended);
            seen = ended;
        }
    }
    call = {};
}

void call_on_end(const RunningCall& call, const RunPlan& plan, Context& context, FaultGuard& guard,
                 MeasureSums& measures) {
    const std::uint32_t sequence = call.lp->sequence;
    if (sigsetjmp(guard.env(), 0) != 0) fail(call, plan, leave_crashed_handler(guard));
    const std::uint32_t seen =
        plan.measure_times.on() ? call.group->intervals_seen_of(*call.lp) : 0;
    call_hook(call, plan, context, guard, [&] {
        measures.sample_before_end(*call.lp->process, seen, context.now());
        call.lp->process->on_end(context);
        measures.sample(*call.lp->process, context.now());
    });
    if (call.lp->sequence != sequence) fail(call, plan, "schedule() after the end of the run");
    measures.add_sampled();
}

void destroy_lps(const std::vector<Group*>& groups, const RunPlan& plan, VirtualTime now,
                 const std::atomic<int>& stop_signal, RunningCall& call, FaultGuard& guard) {
    for (Group* group : groups) {
        call = {.group = group, .hook_key = {.time = now}, .hook = "its destructor"};
        destroy_lps_of(*group, plan, stop_signal, guard);
    }
    call = {};
}

}  // namespace nw
