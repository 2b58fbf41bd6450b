// What a worker sends to others, from the moment it is said to be sent until it lies in a bottom half of
// this rank or in a batch for another one.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "event/mail_buffer.hpp"
#include "worker/worker_core.hpp"

namespace nw {

class Outboxes {
  public:
    explicit Outboxes(WorkerCore& core);

    // The event or anti-message belongs to the epoch that is open, from now on. Returns whether this was the
    // last that the worker may send to other ranks before it learns a new GVT.
    [[nodiscard]] bool send(WireEvent wire, const std::byte* payload);

    // Everything for workers of this rank leaves, and batches for other ranks that are old enough, or all.
    void flush(bool everything);

    // At a cut, after flush(true): batches to each other rank since the last, by its number; as many as fit.
    void take_batches_sent(std::span<std::uint32_t> sent) noexcept;

    void on_gvt() noexcept;

    // Events and anti-messages to each other rank, added to `sums` by the rank's number.
    void add_sent_to(std::vector<std::uint64_t>& sums) const;

    // What waits here belongs to the epoch that is open: the next cut sends it off.
    void validate() const;

  private:
    struct ToWorker {
        std::size_t bytes = 0;                 // appended to the ring and not published
        VirtualTime earliest = time_infinity;  // of these
        MailBuffer mail;                       // for which the ring has no room
    };
    struct ToRank {
        MailBuffer mail;
        WorkerCore::Clock::time_point opened;  // when the first event went in
        std::uint64_t events_sent = 0;         // so far
        std::uint32_t batches_in_epoch = 0;
        std::uint64_t sent_in_batches = 0;  // of them in batches that were closed
        std::uint32_t spoken_to_at = 0;     // rounds_
    };

    void send_to_worker(std::uint32_t worker, const WireEvent& wire, const std::byte* payload);
    bool send_to_rank(std::uint32_t rank, const WireEvent& wire, const std::byte* payload);
    bool has_credit() const noexcept;
    bool is_due(const ToRank& outbox) const noexcept;
    void close_batch(std::uint32_t rank);

    WorkerCore& core_;
    std::vector<ToWorker> to_workers_;      // by worker of this rank
    std::vector<ToRank> to_ranks_;          // by rank; grows to the highest spoken to
    std::vector<std::uint32_t> open_;       // ranks for which something waits
    std::uint32_t messages_since_gvt_ = 0;  // to other ranks
    std::size_t bytes_since_gvt_ = 0;       // of these
    std::uint32_t rounds_ = 1;              // of GVT
    std::uint32_t peers_ = 0;               // ranks spoken to since the last round
    std::uint32_t peers_before_ = 0;        // between it and the one before
};

}  // namespace nw
