#include "engine/lp_building.hpp"

#include <new>

#include <fmt/format.h>

#include "base/check.hpp"
#include "numa/heap_scope.hpp"

namespace nw {

void build_lps(Group& group, const RunPlan& plan, MemoryBudget& budget) {
    const std::vector<std::uint32_t> members = plan.partition.members(group.mail.group());
    group.lps = static_cast<LpRecord*>(group.heap.allocate(members.size() * sizeof(LpRecord)));
    for (const std::uint32_t lp : members) {
        LpRecord& record = *new (&group.lps[group.count]) LpRecord{};
        record.id = lp;
        record.last_key.time = -1;
        record.heap = &group.memory.new_lp_heap();
        std::string failure;
        bool out_of_memory = false;
        try {
            const HeapScope scope(*record.heap);
            record.process = plan.setup.process.build(LpId{lp});
        } catch (const std::bad_alloc&) {
            out_of_memory = true;
        } catch (const std::exception& error) {
            failure = error.what();
        }
        if (out_of_memory)
            throw MachineError(fmt::format(
                "out of memory while LP {} of {} was built; legal: a smaller model, or more memory "
                "(a larger `ulimit -v`, where there is one)",
                lp, plan.setup.lps));
        if (!failure.empty())
            throw SetupError(fmt::format("building LP {} failed: {}", lp, failure));
        NW_CHECK(record.process != nullptr);
        ++group.count;
        budget.note_built();
    }
}

void destroy_lps(Group& group) noexcept {
    for (std::uint32_t i = 0; i < group.count; ++i) {
        const HeapScope scope(*group.lps[i].heap);
        group.lps[i].process->~LogicalProcess();
    }
    group.count = 0;
}

}  // namespace nw
