// Makes a group's LPs: engine records in platform memory, model objects in the LPs' own heaps.
#pragma once

#include "lp/group.hpp"
#include "numa/handler/fault_guard.hpp"
#include "plan/memory_budget.hpp"
#include "plan/run_plan.hpp"

namespace nw {

// Thread: the worker that will own the group, already bound to its core, so that first touch puts
// the pages on its node. Throws SetupError when a constructor of the model throws or crashes, and
// MachineError when the LPs exceed the budget. Requires: the thread has adopted the guard.
void build_lps(Group& group, const RunPlan& plan, MemoryBudget& budget, FaultGuard& guard);

// Calls the model's destructors. Throws ModelError when one throws or crashes; the other LPs are gone
// then, too, without theirs. Requires: the thread has adopted the guard.
void destroy_lps(Group& group, FaultGuard& guard);

}  // namespace nw
