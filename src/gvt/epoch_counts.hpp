// A worker's half of the GVT algorithm: message counts and minima by epoch (docs/gvt.md; checked as
// src/gvt/egvt.pml). A message is an event or anti-message that leaves the worker; it is counted
// before it is published and carries the sender's epoch.
//
// Owner: the worker. No atomics here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "gvt/contribution.hpp"

namespace nw {

class EpochCounts {
  public:
    std::uint32_t epoch() const noexcept { return epoch_; }
    std::uint32_t seen() const noexcept { return seen_; }

    // Returns the stamp that the message must carry.
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

    // The result of the round this worker contributed to last. The newer epochs become older ones
    // when all messages of those have arrived: so no minimum waits for messages that were sent after
    // it was taken, and GVT gets on though something is always in flight.
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

    // The cut: closes the epoch and fills the parts of the contribution that GVT needs.
    // Requires: epoch() == seen(), all mail of this epoch published.
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

    // Everything this worker sent minus everything it received; the sum over all workers is 0 when
    // nothing is in flight.
    std::int64_t balance() const noexcept {
        return settled_ + older_.messages + newer_.messages + current_.messages + next_messages_;
    }

    void validate() const {
        NW_CHECK(epoch_ - seen_ <= 1);
        NW_CHECK(static_cast<std::int32_t>(seen_ - older_end_) >= 0);
        NW_CHECK(next_messages_ <= 0);  // nobody sends there yet
        NW_CHECK(epoch_ != seen_ || closed_min_ == EventBound());
    }

  private:
    std::uint32_t epoch_ = first_round;  // rounds this worker has cut
    std::uint32_t seen_ =
        first_round;  // rounds whose result it has learnt; epoch_ - 1 ≤ seen_ ≤ epoch_
    // Sent minus received, and the minimum of what was sent, by the stamp's epoch.
    Transit older_;          // below older_end_
    Transit newer_;          // from there to what is closed; the last minimum stands apart:
    EventBound closed_min_;  // of the epoch closed at the cut whose result is not known yet
    Transit current_;        // in it
    std::int64_t next_messages_ = 0;  // one ahead; what is sent there is still to come
    std::uint32_t older_end_ = first_round;
    std::int64_t settled_ = 0;  // of all before: over all workers it is 0
};

}  // namespace nw
