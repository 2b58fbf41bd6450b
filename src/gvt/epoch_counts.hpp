// SPDX-License-Identifier: Apache-2.0
// A worker's part of the GVT algorithm: message counts and minima by epoch (docs/gvt.md). The model
// src/gvt/egvt.pml checks the algorithm. A message is an event or anti-message that leaves the
// worker. A message is counted before it is published. It carries the epoch of its sender as its
// stamp.
//
// Thread: the owning worker. There are no atomics.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gvt/contribution.hpp"
#include "util/check.hpp"

namespace nw {

class EpochCounts {
  public:
    std::uint32_t epoch() const noexcept { return epoch_; }
    std::uint32_t seen() const noexcept { return seen_; }

    // Counts a message. Returns the stamp that the message must carry.
    std::uint32_t send(const EventBound& event) noexcept {
        ++current_.messages;
        current_.min = std::min(current_.min, event);
        return epoch_;
    }

    void receive(std::uint32_t stamp) {
        const auto distance = static_cast<std::int32_t>(stamp - epoch_);
        NW_CHECK(distance <= 1);
        if (distance == 0) {
            --current_.messages;
        } else if (distance > 0) {
            --next_messages_;
        } else if (static_cast<std::int32_t>(stamp - older_end_) < 0) {
            --older_.messages;
        } else {
            --newer_.messages;
        }
    }

    // Reads the result of the last round that this worker contributed to. The newer set of epochs
    // becomes the older set when all messages of the older set have arrived. So the minimum of the
    // older set does not include messages that were sent later. Therefore GVT advances even if some
    // message is always in flight.
    void learn(const Contribution& sums) noexcept {
        ++seen_;
        if (sums.newer.messages == 0) newer_.min = {};
        newer_.min = std::min(newer_.min, closed_min_);
        closed_min_ = {};
        if (sums.older.messages != 0) return;
        settled_ += older_.messages;
        older_ = newer_;
        newer_ = {};
        older_end_ = seen_;
    }

    // Makes the cut: closes the epoch, and sets the fields of the contribution from which GVT is
    // computed. Requires: epoch() == seen(), and all mail of this epoch is published.
    void cut(const EventBound& smallest_pending, Contribution& out) {
        NW_CHECK(epoch_ == seen_);
        out.m0 = std::min(smallest_pending, current_.min);
        out.older = older_;
        out.newer = newer_;
        closed_min_ = current_.min;
        newer_.messages += current_.messages;
        current_ = {.messages = next_messages_};
        next_messages_ = 0;
        ++epoch_;
    }

    // Messages that this worker has sent minus messages that it has received. The sum over all
    // workers is 0 if nothing is in flight.
    std::int64_t balance() const noexcept {
        return settled_ + older_.messages + newer_.messages + current_.messages + next_messages_;
    }

    void validate() const {
        NW_CHECK(epoch_ - seen_ <= 1);
        NW_CHECK(static_cast<std::int32_t>(seen_ - older_end_) >= 0);
        NW_CHECK(next_messages_ <= 0);  // no message is sent in the next epoch
        NW_CHECK(epoch_ != seen_ || closed_min_ == EventBound());
    }

  private:
    std::uint32_t epoch_ = first_round;  // rounds that this worker has cut
    std::uint32_t seen_ = first_round;   // results that were read; epoch_ - 1 ≤ seen_ ≤ epoch_
    // Sent minus received messages, and the minimum of the sent messages, by stamp.
    Transit older_;          // stamps below older_end_
    Transit newer_;          // later closed epochs; newer_.min does not include closed_min_
    EventBound closed_min_;  // of the epoch whose round has no result yet
    Transit current_;        // the open epoch
    // For the next epoch: minus the number of received messages. This worker has sent no message in
    // that epoch yet.
    std::int64_t next_messages_ = 0;
    std::uint32_t older_end_ = first_round;
    std::int64_t settled_ = 0;  // all epochs before the older set; the sum over all workers is 0
};

}  // namespace nw
