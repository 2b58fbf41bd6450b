// SPDX-License-Identifier: Apache-2.0
#include "engine/inorder/in_order_mail.hpp"

#include <algorithm>
#include <utility>

#include "engine/inorder/in_order_executor.hpp"
#include "net/exchange.hpp"

namespace nw {

InOrderMail::InOrderMail(InOrderWorld& world, Counters& counters)
    : world_(world), counters_(counters), to_ranks_(world.plan.ranks) {}

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
            append_for_rank(rank, wire);
        } else {
            ++counters_[Counter::events_crossed];
            world_.deliver(wire);
        }
    });
    outbox_.clear();
}

void InOrderMail::append_for_rank(std::uint32_t rank, const WireEvent& wire) {
    ++counters_[Counter::events_sent];
    ToRank& to = to_ranks_[rank];
    if (!to.mail.empty() && to.mail.size() + wire.bytes() > world_.exchange->batch_bytes())
        close_batch(rank);
    to.mail.append(wire, wire.payload());
    ++to.events;
}

void InOrderMail::close_batch(std::uint32_t rank) {
    MailBuffer& mail = to_ranks_[rank].mail;
    ++to_ranks_[rank].in_window;
    ++counters_[Counter::batches_sent];
    counters_[Counter::bytes_sent] += mail.size();
    world_.exchange->post(RankId{rank}, {mail.data(), mail.size()});
    mail.clear();
}

void InOrderMail::flush() {
    publish();
    for (std::uint32_t r = 0; r < to_ranks_.size(); ++r)
        if (!to_ranks_[r].mail.empty()) close_batch(r);
}

VirtualTime InOrderMail::cut(std::vector<std::uint32_t>& sent) {
    for (std::uint32_t r = 0; r < sent.size(); ++r)
        sent[r] = std::exchange(to_ranks_[r].in_window, 0);
    ++window_;
    return std::exchange(sent_from_, time_infinity);
}

void InOrderMail::add_sent_to(std::vector<std::uint64_t>& sums) const {
    for (std::uint32_t r = 0; r < to_ranks_.size(); ++r) sums[r] += to_ranks_[r].events;
}

}  // namespace nw
