// LPs are built, started, ended and destroyed: all that an engine calls of the model but the handlers of events.
// Engine records lie in platform memory, model objects in the LPs' own heaps.
//
// Thread: the worker that owns the LPs' groups, which has adopted the guard. It is already bound to its core when
// it builds them, so that first touch puts the pages on its node. `call` says meanwhile what is being called.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <numawarp/context.hpp>

#include "engine/running_call.hpp"
#include "lp/group.hpp"
#include "numa/handler/fault_guard.hpp"
#include "plan/memory_budget.hpp"
#include "plan/run_plan.hpp"

namespace nw {

class IntervalSums;
class MeasureSums;

// Throws SetupError when a constructor of the model throws or crashes, and MachineError when the LPs exceed
// the budget; null: it is not asked, as the set-up is over.
void build_lps(Group& group, const RunPlan& plan, MemoryBudget* budget, RunningCall& call,
               FaultGuard& guard);

// on_start(), and can_end() where the model has an end condition: sets lp.ended. Throws ModelError.
// Requires, like the next: `call` says what is called.
void call_on_start(const RunningCall& call, const RunPlan& plan, Context& context,
                   FaultGuard& guard);

// start(group, lp) for all LPs. Mail goes out and in on the way, so that it never piles up: move_mail(). After a
// ModelError, only LPs with smaller numbers are still started; the ModelError of the smallest number is thrown, with
// `call` as it was then. The order of groups, which depends on the layout, therefore has no effect on the message.
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

// While nothing runs, and all before `now` is final: the groups' LPs are looked at for all intervals of measures
// that have ended. Throws ModelError.
void look_at_intervals(const std::vector<Group*>& groups, const RunPlan& plan, VirtualTime now,
                       RunningCall& call, FaultGuard& guard, IntervalSums& intervals);

// on_end(), which may not schedule anything; the LP's figures are added to `measures`. Throws ModelError.
void call_on_end(const RunningCall& call, const RunPlan& plan, Context& context, FaultGuard& guard,
                 MeasureSums& measures);

// Calls the model's destructors, `now` being the end of the run; but none after a stop signal, when only the report is
// wanted soon. Throws ModelError when one throws or crashes; the other LPs of its group are gone then, too, without theirs.
void destroy_lps(const std::vector<Group*>& groups, const RunPlan& plan, VirtualTime now,
                 const std::atomic<int>& stop_signal, RunningCall& call, FaultGuard& guard);

}  // namespace nw
