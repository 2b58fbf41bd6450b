#include "worker/relocation.hpp"

#include "lp/group.hpp"
#include "numa/place/migration_share.hpp"
#include "rank/worker_seats.hpp"
#include "worker/worker_core_inline.hpp"

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
    const int cpu = seats.ordered_cpu(self);
    if (cpu >= 0) {
        // Also to the one that it has: before Linux 6.2, a cpuset that changes unbinds all threads in it.
        if (const Status status = core_.rank.os().bind_thread(cpu); status != 0) {
            seats.refuse(status);
            return;
        }
    }
    if (cpu >= 0 && cpu != seats.cpu_of(self)) {
        seats.take_seat(self);
        for (Group* group : core_.groups) group->memory.request_migration(seats.node_of(self));
    }
    if (seats.fetches() == fetches_seen_) return;
    fetches_seen_ = seats.fetches();
    const LocalPolicy policy;
    MigrationLog log;
    MigrationShare share(core_.rank.os(), log, policy);
    for (Group* group : core_.groups) {
        group->memory.request_migration(seats.node_of(self));
        share.add(group->memory);
    }
    share.pass();
    seats.count_fetched(log.figures().pages_moved);
}

}  // namespace nw
