// Makes a group's LPs: engine records in platform memory, model objects in the LPs' own heaps.
#pragma once

#include "engine/group.hpp"
#include "engine/memory_budget.hpp"
#include "engine/run_plan.hpp"

namespace nw {

// Thread: the worker that will own the group, already bound to its core, so that first touch puts
// the pages on its node. Throws what the model's constructor throws, as SetupError, and
// MachineError when the LPs exceed the budget.
void build_lps(Group& group, const RunPlan& plan, MemoryBudget& budget);

// Calls the model's destructors.
void destroy_lps(Group& group) noexcept;

}  // namespace nw
