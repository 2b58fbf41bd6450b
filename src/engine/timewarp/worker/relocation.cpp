// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/relocation.hpp"

#include <new>

#include "engine/timewarp/rank/cpu_assignments.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/group.hpp"
#include "numa/place/migration_share.hpp"

namespace nw {

bool Relocation::has_orders() const noexcept {
    return core_.rank.assignments().orders() != orders_seen_;
}

void Relocation::step() {
    if (!has_orders()) [[likely]]
        return;
    orders_seen_ = core_.rank.assignments().orders();
    carry_out();
}

void Relocation::carry_out() {
    CpuAssignments& assignments = core_.rank.assignments();
    const std::uint32_t self = core_.self.worker;
    const CpuAssignments::CpuAssignment place = assignments.ordered(self);
    if (place.cpu >= 0) {
        // The thread is bound again even if the CPU is unchanged: before Linux 6.2, a change of a
        // cpuset unbinds all threads in the cpuset.
        Os& os = core_.rank.os();
        const Status status = os.bind_thread(place.cpu);
        assignments.note_binding(self, status);
        if (status != 0) return;
        if (core_.plan.config.place->is_strict) {
            const Status memory = os.require_memory_of(place.node);
            if (memory != 0) {
                // Without this call, the worker would still take its memory from the old node.
                os.prefer_local_memory();
                assignments.note_memory_refusal(memory);
            }
        }
    }
    if (place.cpu >= 0 && place.cpu != assignments.cpu_of(self)) {
        assignments.note_moved(self, place);
        request_migrations();
    }
    if (assignments.fetches() == fetches_seen_) return;
    fetches_seen_ = assignments.fetches();
    request_migrations();
    fetch_pages();
}

void Relocation::request_migrations() {
    const NodeId node = core_.rank.assignments().node_of(core_.self.worker);
    for (Group* group : core_.groups) group->memory.request_migration(node);
}

void Relocation::fetch_pages() {
    const LocalPolicy policy;
    MigrationLog log;
    MigrationShare share(core_.rank.os(), log, policy);
    try {
        for (Group* group : core_.groups) share.add(group->memory);
        share.pass();
    } catch (const std::bad_alloc&) {
        // The migration of the pages has been requested, so pagemigd moves the pages.
    }
    const MigrationFigures figures = log.figures();
    core_.rank.assignments().count_fetched(figures.pages_moved, figures.busy_ns);
}

}  // namespace nw
