// SPDX-License-Identifier: Apache-2.0
#include "engine/inorder/in_order_mail.hpp"

#include <algorithm>
#include <utility>

#include "engine/inorder/in_order_executor.hpp"

namespace nw {

InOrderMail::InOrderMail(InOrderWorld& world, Counters& counters)
    : world_(world), counters_(counters), batches_(world.exchange, counters) {}

[[gnu::noinline]] void InOrderMail::send(const EventHeader& header, const std::byte* payload) {
    sent_from_ = std::min(sent_from_, header.time);
    outbox_.append(WireEvent{header, window_, WireKind::event, true, {}}, payload);
}

void InOrderMail::publish() {
    const Partition& partition = world_.plan.partition;
    for_each_wire_event(outbox_.data(), outbox_.size(), [&](const WireEvent& wire) {
        const std::uint32_t rank =
            partition.first_owner(partition.position(wire.target).group).rank;
        if (rank != world_.rank) {
            batches_.append(rank, wire, wire.payload());
        } else {
            ++counters_[Counter::events_crossed];
            world_.deliver(wire);
        }
    });
    outbox_.clear();
}

void InOrderMail::flush() {
    publish();
    batches_.close_all();
}

VirtualTime InOrderMail::cut(std::vector<std::uint32_t>& sent) {
    batches_.take_batches_sent(sent);
    ++window_;
    return std::exchange(sent_from_, time_infinity);
}

}  // namespace nw
