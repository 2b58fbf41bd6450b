// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/inbox.hpp"

#include "engine/event_flow.hpp"
#include "engine/timewarp/worker/handovers.hpp"
#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "event/mail_ring.hpp"
#include "event/short_events.hpp"
#include "util/check.hpp"

namespace nw {

bool Inbox::drain() {
    bool has_come = false;
    for (MailRing& ring : core_.rank.rings_to(core_.self.worker))
        has_come |= ring.drain([this](const WireEvent& wire) { receive_or_pass_on(wire); });
    has_come |= drain_mail(
        core_.rank.ready_list(core_.self.worker),
        [this](BottomHalf& mail) { return group_of(mail); },
        [this](const WireEvent& wire, Group& group) { receive(wire, group); });
    core_.marks.mark(TraceKind::mail, has_come ? 1 : 0);
    return has_come;
}

// If the group now belongs to another worker, passes the mail on to that worker and returns null.
Group* Inbox::group_of(BottomHalf& mail) {
    const std::uint32_t g = mail.group();
    if (handovers_.owns(g)) [[likely]]
        return core_.rank.group(g);
    core_.rank.pass_on(mail);
    return nullptr;
}

// Receives an event from a mail ring. Passes the event on if its group now belongs to another
// worker.
void Inbox::receive_or_pass_on(const WireEvent& wire) {
    const std::uint32_t g = core_.plan.partition.position(wire.target).group;
    if (handovers_.owns(g)) [[likely]]
        receive(wire, *core_.rank.group(g));
    else
        core_.rank.deliver(reinterpret_cast<const std::byte*>(&wire), wire.bytes());
}

void Inbox::receive(const WireEvent& wire, Group& group) {
    NW_CHECK(wire.time >= core_.gvt);
    NW_PARANOID(core_.plan.partition.position(wire.target).group == group.mail.group());
    core_.epochs.receive(wire.epoch);
    // The end of the run is fixed, and this message is beyond the end, so it is ignored. A rollback
    // would send further anti-messages, and there would always be messages in flight.
    if (standstill_.phase() == Standstill::Phase::draining) return;
    if (wire.kind == WireKind::anti_message) {
        LpRecord& lp = group.lps[core_.plan.partition.position(wire.target).index];
        rollbacks_.receive_anti_message(wire, group, lp);
        return;
    }
    if ((wire.is_irrevocable || core_.uses_log) &&
        core_.short_events.push(wire, wire.payload(), core_.pending))
        return;
    EventRecord& event = new_event(group, wire, wire.payload());
    event.canceled_by_identity = true;
    core_.pending.push(event.entry());
}

}  // namespace nw
