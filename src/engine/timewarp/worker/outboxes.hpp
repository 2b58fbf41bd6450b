// SPDX-License-Identifier: Apache-2.0
// The events and anti-messages that a worker sends to other workers: from send() until they are in
// a mail ring or a bottom half of this rank, or in a batch for another rank.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/timewarp/worker/worker_core.hpp"
#include "event/mail_buffer.hpp"

namespace nw {

class Outboxes {
  public:
    explicit Outboxes(WorkerCore& core);

    // Adds an event or anti-message, which belongs to the current epoch. Returns whether this used
    // the last of the credit: the messages that the worker may send to other ranks before it learns
    // a new GVT.
    [[nodiscard]] bool send(WireEvent wire, const std::byte* payload);

    // Publishes everything for workers of this rank. Closes the batches for other ranks that are
    // due, or all.
    void flush(bool everything);

    // Called at a cut, after flush(true). Stores the numbers of batches to each other rank since
    // the last cut, for as many ranks as `sent` has elements.
    void take_batches_sent(std::span<std::uint32_t> sent) noexcept;

    void on_gvt() noexcept;

    // Adds to `sums`, by rank, the number of events and anti-messages sent to each other rank.
    void add_sent_to(std::vector<std::uint64_t>& sums) const;

    // All waiting messages must belong to the current epoch, because the next cut sends them.
    void validate() const;

  private:
    struct ToWorker {
        std::size_t bytes = 0;                 // appended to the ring and not yet published
        VirtualTime earliest = time_infinity;  // of these
        MailBuffer mail;                       // without a ring, or for which it has no room
    };
    struct ToRank {
        MailBuffer mail;
        WorkerCore::Clock::time_point opened;  // when the first event was added
        std::uint64_t events_sent = 0;         // so far
        std::uint32_t batches_in_epoch = 0;
        std::uint64_t sent_in_batches = 0;  // of these, in closed batches
        std::uint32_t spoken_to_at = 0;     // rounds_ at the last send to this rank
    };

    void send_to_worker(std::uint32_t worker, const WireEvent& wire, const std::byte* payload);
    bool send_to_rank(std::uint32_t rank, const WireEvent& wire, const std::byte* payload);
    bool has_credit() const noexcept;
    bool is_due(const ToRank& outbox) const noexcept;
    void close_batch(std::uint32_t rank);

    WorkerCore& core_;
    std::vector<ToWorker> to_workers_;      // by worker of this rank
    std::vector<ToRank> to_ranks_;          // by rank; grows to the highest rank sent to
    std::vector<std::uint32_t> open_;       // ranks with an open batch
    std::uint32_t messages_since_gvt_ = 0;  // to other ranks
    std::size_t bytes_since_gvt_ = 0;       // bytes of these
    std::uint32_t rounds_ = 1;              // GVT results learned, plus 1
    std::uint32_t peers_ = 0;               // ranks sent to since the last GVT result
    std::uint32_t peers_before_ = 0;        // between the last result and the one before
};

}  // namespace nw
