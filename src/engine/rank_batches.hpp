// SPDX-License-Identifier: Apache-2.0
// The messages of one thread for other ranks, in batches: one message of the transport contains
// many events. A batch is closed, and leaves, when the next event does not fit into it, or when the
// owner closes it.
//
// Thread: the owner's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "event/mail_buffer.hpp"
#include "net/exchange.hpp"
#include "util/counters.hpp"

namespace nw {

class RankBatches {
  public:
    // `exchange`: null if there are no other ranks; then append() must not be called.
    RankBatches(Exchange* exchange, Counters& counters)
        : exchange_(exchange),
          batch_bytes_(exchange != nullptr ? exchange->batch_bytes() : 0),
          counters_(counters) {}

    // Adds an event or anti-message to the rank's open batch. Returns whether this is the first
    // message in the batch.
    bool append(std::uint32_t rank, const WireEvent& wire, const std::byte* payload);
    // Closes the open batch of each rank for which is_due(rank) is true.
    template <class Condition>
    void close_if(Condition&& is_due) {
        std::erase_if(open_, [&](std::uint32_t rank) {
            if (!is_due(rank)) return false;
            close(rank);
            return true;
        });
    }
    void close_all() {
        close_if([](std::uint32_t) { return true; });
    }
    // Number of messages in the rank's open batch.
    std::uint64_t open_messages(std::uint32_t rank) const noexcept {
        return to_[rank].messages - to_[rank].in_closed_batches;
    }

    // Stores in sent[r] the number of batches that were closed for rank r since the last call, for
    // each element of `sent`.
    void take_batches_sent(std::span<std::uint32_t> sent) noexcept;
    // Adds to sums[r] the number of messages for rank r since the beginning.
    void add_sent_to(std::vector<std::uint64_t>& sums) const;

    // Calls visit(mail) for the buffer of each rank, and checks the list of open batches.
    template <class Visit>
    void validate(Visit&& visit) const {
        for (const ToRank& to : to_) visit(to.mail);
        validate_open();
    }

  private:
    struct ToRank {
        MailBuffer mail;  // the open batch; empty: none is open
        std::uint64_t messages = 0;
        std::uint64_t in_closed_batches = 0;   // of `messages`
        std::uint32_t batches_since_take = 0;  // closed since the last take_batches_sent()
    };

    void close(std::uint32_t rank);
    void validate_open() const;

    Exchange* const exchange_;
    const std::size_t batch_bytes_;
    Counters& counters_;
    std::vector<ToRank> to_;           // by rank, up to the highest rank with a message
    std::vector<std::uint32_t> open_;  // ranks with an open batch
};

}  // namespace nw
