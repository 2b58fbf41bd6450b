#include "worker/outboxes.hpp"

#include <utility>

#include "base/check.hpp"
#include "worker/worker_core_inline.hpp"

namespace nw {
namespace {

// A batch for another rank is closed when it is full (Transport::batch_bytes), or at this age.
constexpr std::chrono::microseconds batch_age_max{50};

// What a worker may send to other ranks between two results of GVT before it stops running ahead. A
// round takes a millisecond, in which nobody sends a tenth of this; only when a rank does not answer
// is it used up, and then it bounds what waits in the others' memory.
constexpr std::uint32_t messages_credited = 1 << 16;

}  // namespace

Outboxes::Outboxes(WorkerCore& core) : core_(core), to_workers_(core.plan.workers) {}

bool Outboxes::send(WireEvent wire, const std::byte* payload) {
    wire.epoch = core_.epochs.send({wire.time, wire.generation});
    const Partition::Owner owner =
        core_.rank.addressee(core_.plan.partition.position(wire.target).group);
    if (owner.rank != core_.self.rank) {
        core_.rank.seats().count_mail(core_.self.worker, owner, wire.bytes());
        return send_to_rank(owner.rank, wire, payload);
    }
    ++core_.counters[Counter::events_crossed];
    to_workers_[owner.worker].append(wire, payload);
    return false;
}

bool Outboxes::send_to_rank(std::uint32_t rank, const WireEvent& wire, const std::byte* payload) {
    ++core_.counters[Counter::events_sent];
    if (rank >= to_ranks_.size()) to_ranks_.resize(rank + 1u);
    ToRank& outbox = to_ranks_[rank];
    if (outbox.mail.size() + wire.bytes() > core_.rank.batch_bytes() && !outbox.mail.empty())
        close_batch(rank);
    if (outbox.mail.empty()) outbox.opened = core_.now;
    outbox.mail.append(wire, payload);
    ++outbox.events_sent;
    return ++messages_since_gvt_ == messages_credited;
}

void Outboxes::close_batch(std::uint32_t rank) {
    MailBuffer& mail = to_ranks_[rank].mail;
    ++to_ranks_[rank].batches_in_epoch;
    ++core_.counters[Counter::batches_sent];
    core_.counters[Counter::bytes_sent] += mail.size();
    core_.rank.send_batch(RankId{rank}, mail);
    mail.clear();
}

void Outboxes::flush(bool everything) {
    for (std::uint32_t w = 0; w < to_workers_.size(); ++w) {
        MailBuffer& outbox = to_workers_[w];
        if (outbox.empty()) continue;
        const auto to = static_cast<std::uint16_t>(w);
        core_.rank.seats().count_mail(core_.self.worker, {core_.self.rank, to}, outbox.size());
        core_.rank.deliver(outbox.data(), outbox.size());
        outbox.clear();
    }
    for (std::uint32_t r = 0; r < to_ranks_.size(); ++r) {
        const ToRank& outbox = to_ranks_[r];
        if (outbox.mail.empty()) continue;
        if (everything || core_.now - outbox.opened >= batch_age_max) close_batch(r);
    }
}

void Outboxes::take_batches_sent(std::span<std::uint32_t> sent) noexcept {
    for (std::size_t r = 0; r < sent.size(); ++r)
        sent[r] = r < to_ranks_.size() ? std::exchange(to_ranks_[r].batches_in_epoch, 0) : 0;
}

void Outboxes::add_sent_to(std::vector<std::uint64_t>& sums) const {
    for (std::size_t r = 0; r < to_ranks_.size(); ++r) sums[r] += to_ranks_[r].events_sent;
}

void Outboxes::validate() const {
    const auto check = [this](const MailBuffer& mail) {
        std::size_t bytes = 0;
        for_each_wire_event(mail.data(), mail.size(), [&](const WireEvent& wire) {
            bytes += wire.bytes();
            NW_CHECK(wire.kind == WireKind::event || wire.kind == WireKind::anti_message);
            NW_CHECK(wire.epoch == core_.epochs.epoch());
            NW_CHECK(wire.time >= core_.gvt);
            NW_CHECK(wire.target < core_.plan.rules.lps);
        });
        NW_CHECK(bytes == mail.size());
    };
    for (const MailBuffer& mail : to_workers_) check(mail);
    for (const ToRank& outbox : to_ranks_) check(outbox.mail);
}

}  // namespace nw
