// SPDX-License-Identifier: Apache-2.0
// Holds the events that an InOrderExecutor sends to other workers and ranks, from send() until the
// events are in a bottom half of this rank, or in a batch for another rank.
//
// Thread: the executor's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <numawarp/time.hpp>

#include "engine/rank_batches.hpp"
#include "event/event_header.hpp"
#include "event/mail_buffer.hpp"
#include "util/counters.hpp"

namespace nw {

struct InOrderWorld;
struct WireEvent;

// Windows are counted modulo 2^32. The count does not begin at 0, so that it soon wraps in every
// run.
inline constexpr std::uint32_t first_window = 0u - 32;

class InOrderMail {
  public:
    InOrderMail(InOrderWorld& world, Counters& counters);

    // Keeps the event until publish(). Not inlined, so that the event loops stay small.
    void send(const EventHeader& header, const std::byte* payload);
    // Moves events to the bottom halves of other executors' groups, and sends full batches to other
    // ranks.
    void publish();
    // Calls publish(), and then sends the batches that are not full.
    void flush();
    // Ends a window. Requires: flush() was called. Returns the minimum time of the events sent in
    // the window. Stores in `sent` the number of batches that were sent to each rank in the window.
    VirtualTime cut(std::vector<std::uint32_t>& sent);
    const RankBatches& batches() const noexcept { return batches_; }

  private:
    InOrderWorld& world_;
    Counters& counters_;
    RankBatches batches_;  // for other ranks
    MailBuffer outbox_;
    std::uint32_t window_ = first_window;
    VirtualTime sent_from_ = time_infinity;  // minimum time of the events sent in this window
};

}  // namespace nw
