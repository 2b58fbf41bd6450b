// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/outboxes.hpp"

#include <algorithm>
#include <utility>

#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "event/mail_ring.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// A batch for another rank is closed when it is full (Transport::batch_bytes), or at the age
// batch_age if it then has at least events_worth_sending events. Sending and receiving a batch
// takes 0.3 µs over shared memory and 5 µs over TCP. Each event in the batch takes 0.2 µs
// (docs/results/cost-model-2026-11-21.md). tests/engine/test_batches.cpp shows that batches have at
// least eight events on average, although cuts close some batches earlier.
constexpr std::chrono::microseconds batch_age{50};
constexpr std::uint64_t events_worth_sending = 16;

// A batch with fewer events waits longer. The maximum age is proportional to the number of ranks
// that get messages from the worker. With more ranks, each rank gets a smaller share of the events.
// The next cut sends the batch in any case. If the worker sends to at most this number of ranks,
// the maximum age is batch_age.
constexpr std::uint32_t peers_few = 4;

// The number of messages that a worker may send to other ranks between two results of GVT. After
// this number of messages, the worker executes no events beyond GVT. A round takes 1 ms. In this
// time, no worker sends even a tenth of this number. So the credit is used up only if a rank does
// not respond. Then the credit limits the memory for messages that wait on other ranks.
constexpr std::uint32_t messages_credited = 1 << 16;
// The limit in bytes, for large payloads: messages_credited messages of 128 bytes each.
constexpr std::size_t bytes_credited = std::size_t{8} << 20;

}  // namespace

Outboxes::Outboxes(WorkerCore& core)
    : core_(core), batches_(&core.rank.exchange(), core.counters), to_workers_(core.plan.workers) {}

bool Outboxes::send(WireEvent wire, const std::byte* payload) {
    wire.epoch = core_.epochs.send(wire.bound());
    const Partition::Owner owner =
        core_.rank.addressee(core_.plan.partition.position(wire.target).group);
    if (owner.rank != core_.self.rank) {
        core_.rank.assignments().count_mail(core_.self.worker, owner, wire.bytes());
        return send_to_rank(owner.rank, wire, payload);
    }
    ++core_.counters[Counter::events_crossed];
    send_to_worker(owner.worker, wire, payload);
    return false;
}

void Outboxes::send_to_worker(std::uint32_t worker, const WireEvent& wire,
                              const std::byte* payload) {
    ToWorker& outbox = to_workers_[worker];
    MailRing* const ring = core_.rank.ring(core_.self.worker, worker);
    if (ring == nullptr || !ring->append(wire, payload)) {
        outbox.mail.append(wire, payload);
        return;
    }
    outbox.bytes += wire.bytes();
    outbox.earliest = std::min(outbox.earliest, wire.time);
}

bool Outboxes::send_to_rank(std::uint32_t rank, const WireEvent& wire, const std::byte* payload) {
    if (rank >= to_ranks_.size()) to_ranks_.resize(rank + 1u);
    ToRank& outbox = to_ranks_[rank];
    if (outbox.last_send != rounds_) {
        outbox.last_send = rounds_;
        ++peers_;
    }
    if (batches_.append(rank, wire, payload)) outbox.opened = core_.now;
    const bool had_credit = has_credit();
    ++messages_since_gvt_;
    bytes_since_gvt_ += wire.bytes();
    return had_credit && !has_credit();
}

bool Outboxes::has_credit() const noexcept {
    return messages_since_gvt_ < messages_credited && bytes_since_gvt_ < bytes_credited;
}

void Outboxes::on_gvt() noexcept {
    messages_since_gvt_ = 0;
    bytes_since_gvt_ = 0;
    peers_before_ = std::exchange(peers_, 0);
    ++rounds_;
}

bool Outboxes::is_due(std::uint32_t rank) const noexcept {
    const auto age = core_.now - to_ranks_[rank].opened;
    if (age < batch_age) return false;
    if (batches_.open_messages(rank) >= events_worth_sending) return true;
    return age * peers_few >= batch_age * std::max(peers_, peers_before_);
}

void Outboxes::flush(bool everything) {
    for (std::uint32_t w = 0; w < to_workers_.size(); ++w) {
        ToWorker& outbox = to_workers_[w];
        const std::size_t bytes = outbox.bytes + outbox.mail.size();
        if (bytes == 0) continue;
        const auto to = static_cast<std::uint16_t>(w);
        core_.rank.assignments().count_mail(core_.self.worker, {core_.self.rank, to}, bytes);
        if (outbox.bytes > 0) {
            core_.rank.ring(core_.self.worker, w)->publish();
            core_.rank.wake_for(w, outbox.earliest);
            outbox.bytes = 0;
            outbox.earliest = time_infinity;
        }
        core_.rank.deliver(outbox.mail.data(), outbox.mail.size());
        outbox.mail.clear();
    }
    batches_.close_if([&](std::uint32_t rank) { return everything || is_due(rank); });
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
    for (const ToWorker& outbox : to_workers_) check(outbox.mail);
    batches_.validate(check);
}

}  // namespace nw
