#include "engine/lp_building.hpp"

#include <new>

#include <fmt/format.h>

#include "engine/handler_call.hpp"

namespace nw {
namespace {

[[noreturn]] void fail_building(const LpRecord& lp, std::string_view what) {
    throw SetupError(fmt::format("building LP {} failed: {}", lp.id, what));
}

// The LP is the group's last, and is counted when it is whole.
void build_lp(LpRecord& record, const RunPlan& plan, FaultGuard& guard) {
    std::string failure;
    const HandlerEnd end = run_armed(
        guard, record.heap, [&] { record.process = plan.setup.process.build(LpId{record.id}); });
    if (end == HandlerEnd::out_of_memory)
        throw MachineError(fmt::format(
            "out of memory while LP {} of {} was built; legal: a smaller model, or more memory (a "
            "larger `ulimit -v`, where there is one)",
            record.id, plan.setup.lps));
    if (!describe_end(guard, end, failure)) fail_building(record, failure);
    if (record.process == nullptr)
        fail_building(record, "the factory returned no object; legal: nw::process<Lp>()");
}

// The LP that is no longer counted.
[[noreturn]] void fail_destroying(Group& group, std::string_view what) {
    const std::uint32_t failed = group.lps[group.count].id;
    group.count = 0;
    throw ModelError(fmt::format("LP {} in its destructor: {}", failed, what));
}

// A destructor runs once: the LP is no longer counted when it begins.
void destroy_last(Group& group, FaultGuard& guard) {
    std::string failure;
    LpRecord& lp = group.lps[--group.count];
    if (!call_guarded(guard, lp.heap, failure, [&] { lp.process->~LogicalProcess(); }))
        fail_destroying(group, failure);
}

}  // namespace

void build_lps(Group& group, const RunPlan& plan, MemoryBudget& budget, FaultGuard& guard) {
    const std::vector<std::uint32_t> members = plan.partition.members(group.mail.group());
    group.lps = static_cast<LpRecord*>(group.heap.allocate(members.size() * sizeof(LpRecord)));
    if (sigsetjmp(guard.env(), 0) != 0)
        fail_building(group.lps[group.count], leave_crashed_handler(guard));
    for (const std::uint32_t lp : members) {
        LpRecord& record = *new (&group.lps[group.count]) LpRecord{};
        record.id = lp;
        record.last_key.time = -1;
        record.heap = &group.memory.new_lp_heap();
        build_lp(record, plan, guard);
        ++group.count;
        budget.note_built();
    }
}

void destroy_lps(Group& group, FaultGuard& guard) {
    if (sigsetjmp(guard.env(), 0) != 0) fail_destroying(group, leave_crashed_handler(guard));
    while (group.count > 0) destroy_last(group, guard);
}

}  // namespace nw
