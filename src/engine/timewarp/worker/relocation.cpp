// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/relocation.hpp"

#include <new>

#include "engine/timewarp/rank/worker_seats.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "lp/group.hpp"
#include "numa/place/migration_share.hpp"

namespace nw {

void Relocation::step() {
    const std::uint32_t orders = core_.rank.seats().orders();
    if (orders == orders_seen_) [[likely]]
        return;
    orders_seen_ = orders;
    carry_out();
}

void Relocation::carry_out() {
    WorkerSeats& seats = core_.rank.seats();
    const std::uint32_t self = core_.self.worker;
    const WorkerSeats::Seat place = seats.ordered(self);
    if (place.cpu >= 0) {
        // Also if the CPU is unchanged: before Linux 6.2, a change of a cpuset unbinds all threads
        // in it.
        const Status status = core_.rank.os().bind_thread(place.cpu);
        seats.note_binding(self, status);
        if (status != 0) return;
    }
    if (place.cpu >= 0 && place.cpu != seats.cpu_of(self)) {
        seats.take_seat(self, place);
        ask_for_pages();
    }
    if (seats.fetches() == fetches_seen_) return;
    fetches_seen_ = seats.fetches();
    ask_for_pages();
    fetch_pages();
}

void Relocation::ask_for_pages() {
    const NodeId node = core_.rank.seats().node_of(core_.self.worker);
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
        // The pages have been requested, so pagemigd moves them.
    }
    const MigrationFigures figures = log.figures();
    core_.rank.seats().count_fetched(figures.pages_moved, figures.busy_ns);
}

}  // namespace nw
