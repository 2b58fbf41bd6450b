// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/housekeeping.hpp"

#include <algorithm>

#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "event/mail_ring.hpp"

namespace nw {

void Housekeeping::on_gvt(std::uint32_t events_ahead_max) {
    const std::uint64_t uncommitted = core_.events_uncommitted();
    reclaim_.on_gvt(uncommitted, core_.pending.size());
    const std::uint32_t held_max = std::min(reclaim_.events_ahead_max(), events_ahead_max);
    if (held_max == Throttle::unlimited) [[likely]]
        return;
    throttle_.set_quota(held_max -
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(held_max, uncommitted)));
}

void Housekeeping::reclaim_memory() {
    const MemoryBudget::Level level = core_.rank.memory_budget().level(core_.now);
    if (level == MemoryBudget::Level::full) throttle_.stay_at_gvt_for_memory();
    if (level != MemoryBudget::Level::ample) [[unlikely]]
        reclaim_.give_back(level);
    reclaim_.trim_mail();
}

void Housekeeping::sample_memory() noexcept {
    sampler_.sample(core_.now, core_.groups,
                    {.events = core_.short_events.bytes(),
                     .history = core_.log.ring_bytes(),
                     .snapshots = core_.keeper.bytes(),
                     .mail_rings = core_.rank.rings_to(core_.self.worker).size_bytes()});
}

}  // namespace nw
