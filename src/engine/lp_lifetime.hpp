// SPDX-License-Identifier: Apache-2.0
// Builds, starts, ends and destroys LPs: all of an engine's calls to LPs except the handlers of
// events. Engine records are in platform memory, model objects are in the LPs' own heaps.
//
// Thread: the worker that owns the LPs' groups. The worker must have adopted the guard. When the
// worker builds the LPs, its thread is already bound to a core, so that first touch puts the pages
// on the node of this core. `call` describes the function of the model that is being called.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <numawarp/context.hpp>

#include "engine/memory_budget.hpp"
#include "engine/running_call.hpp"
#include "lp/group.hpp"
#include "memory/handler/fault_guard.hpp"
#include "plan/run_plan.hpp"

namespace nw {

class IntervalSums;
class MeasureSums;

// Builds the LPs of a group. Throws SetupError if a constructor of the model throws or crashes.
// Throws MachineError if memory or the budget does not suffice. `budget` null: the set-up is over,
// and the budget is not checked.
void build_lps(Group& group, const RunPlan& plan, MemoryBudget* budget, RunningCall& call,
               FaultGuard& guard);

// Calls on_start(), and can_end() if the model has an end condition; the result of can_end() sets
// lp.ended. Requires: `call` describes this call. Throws ModelError.
void call_on_start(const RunningCall& call, const RunPlan& plan, Context& context,
                   FaultGuard& guard);

// Calls start(group, lp) for all LPs, and move_mail() after every 64 of them, so that mail never
// piles up. After a ModelError of one LP, only LPs with smaller numbers are still started. At the
// end, the ModelError of the LP with the smallest number is thrown, and `call` describes the call
// that failed. So the message does not depend on the order of groups, which depends on the
// partition.
template <class Start, class MoveMail>
void start_lps(const std::vector<Group*>& groups, MemoryBudget& budget, RunningCall& call,
               Start&& start, MoveMail&& move_mail) {
    constexpr std::uint64_t lps_between_mail = 64;
    std::uint64_t started = 0;
    std::exception_ptr failure;
    RunningCall failed_call;
    for (Group* group : groups) {
        for (std::uint32_t i = 0; i < group->count; ++i) {
            if (failure != nullptr && group->lps[i].id > failed_call.lp->id) [[unlikely]]
                continue;
            try {
                start(*group, group->lps[i]);
            } catch (const ModelError&) {
                failure = std::current_exception();
                failed_call = call;
            }
            budget.note_started();
            if (++started % lps_between_mail == 0) move_mail();
        }
        if (group->memory.segments().has_huge_pages()) group->heap.discard_fresh();
    }
    if (failure == nullptr) return;
    call = failed_call;
    std::rethrow_exception(failure);
}

// Records the measures of the groups' LPs for all intervals that have ended by `now`. Requires: no
// handler runs, and everything before `now` is final. Throws ModelError.
void sample_intervals(const std::vector<Group*>& groups, const RunPlan& plan, VirtualTime now,
                      RunningCall& call, FaultGuard& guard, IntervalSums& intervals);

// Calls on_end(), which must not schedule anything, and adds the LP's figures to `measures`.
// Requires: `call` describes this call. Throws ModelError.
void call_on_end(const RunningCall& call, const RunPlan& plan, Context& context, FaultGuard& guard,
                 MeasureSums& measures);

// Calls the model's destructors; `now` is the end of the run. After a stop signal it calls no more
// destructors, because only the report is still needed. Throws ModelError if a destructor throws or
// crashes. The remaining LPs of the group are then dropped without their destructors.
void destroy_lps(const std::vector<Group*>& groups, const RunPlan& plan, VirtualTime now,
                 const std::atomic<int>& stop_signal, RunningCall& call, FaultGuard& guard);

}  // namespace nw
