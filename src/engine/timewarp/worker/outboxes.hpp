// SPDX-License-Identifier: Apache-2.0
// Holds the events and anti-messages that a worker sends to other workers, from the call of send()
// until they are in a mail ring or a bottom half of this rank, or in a batch for another rank.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/rank_batches.hpp"
#include "engine/timewarp/worker/worker_core.hpp"
#include "event/mail_buffer.hpp"

namespace nw {

class Outboxes {
  public:
    explicit Outboxes(WorkerCore& core);

    // Adds an event or anti-message, which belongs to the current epoch. Returns whether this
    // message has used up the credit. The credit is the number of messages that the worker may send
    // to other ranks before it reads a new GVT.
    [[nodiscard]] bool send(WireEvent wire, const std::byte* payload);

    // Publishes all messages for workers of this rank. Closes the batches that are due, or with
    // `everything` all batches.
    void flush(bool everything);

    // The batches for other ranks. take_batches_sent() is called at a cut, after flush(true).
    RankBatches& batches() noexcept { return batches_; }
    const RankBatches& batches() const noexcept { return batches_; }

    void on_gvt() noexcept;

    // All waiting messages must belong to the current epoch, because the next cut sends them.
    void validate() const;

  private:
    struct ToWorker {
        std::size_t bytes = 0;                 // bytes that are in the ring and not yet published
        VirtualTime earliest = time_infinity;  // minimum time of these messages
        // Messages that are not in a ring: there is none, or it is full.
        MailBuffer mail;
    };
    struct ToRank {
        WorkerCore::Clock::time_point opened;  // when the open batch got its first event
        std::uint32_t last_send = 0;           // rounds_ at the last send to this rank
    };

    void send_to_worker(std::uint32_t worker, const WireEvent& wire, const std::byte* payload);
    bool send_to_rank(std::uint32_t rank, const WireEvent& wire, const std::byte* payload);
    bool has_credit() const noexcept;
    bool is_due(std::uint32_t rank) const noexcept;

    WorkerCore& core_;
    RankBatches batches_;
    std::vector<ToWorker> to_workers_;      // by worker of this rank
    std::vector<ToRank> to_ranks_;          // by rank, up to the highest rank with a message
    std::uint32_t messages_since_gvt_ = 0;  // to other ranks
    std::size_t bytes_since_gvt_ = 0;       // bytes of these messages
    std::uint32_t rounds_ = 1;              // number of GVT results that were read, plus 1
    std::uint32_t peers_ = 0;               // ranks that got messages since the last GVT result
    std::uint32_t peers_before_ = 0;        // as peers_, between the last two results
};

}  // namespace nw
