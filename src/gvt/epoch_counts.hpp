// A worker's half of the GVT algorithm: message counts and minima by epoch (docs/gvt.md; checked as
// src/gvt/egvt.pml). A message is an event or anti-event that leaves the worker; it is counted
// before it is published and carries the sender's epoch.
//
// Owner: the worker. No atomics here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "net/contribution.hpp"

namespace nw {

class EpochCounts {
  public:
    std::uint32_t epoch() const noexcept { return epoch_; }
    std::uint32_t seen() const noexcept { return seen_; }

    // Returns the stamp that the message must carry.
    std::uint32_t send(const EventBound& event) noexcept {
        ++sent_current_;
        sent_min_current_ = std::min(sent_min_current_, event);
        return epoch_;
    }

    void receive(std::uint32_t stamp) {
        const auto distance = static_cast<std::int32_t>(stamp - epoch_);
        NW_CHECK(distance <= 1);
        if (distance < 0) {
            ++received_old_;
        } else if (distance == 0) {
            ++received_current_;
        } else {
            ++received_next_;
        }
    }

    // The result of the round this worker contributed to last.
    void learn(bool quiesced) noexcept {
        ++seen_;
        sent_min_older_ = quiesced ? sent_min_closed_ : std::min(sent_min_older_, sent_min_closed_);
        sent_min_closed_ = {};
    }

    // The cut: closes the epoch and fills the parts of the contribution that GVT needs.
    // Requires: epoch() == seen(), all mail of this epoch published.
    void cut(const EventBound& smallest_pending, Contribution& out) {
        NW_CHECK(epoch_ == seen_);
        out.m0 = std::min(smallest_pending, sent_min_current_);
        out.m1 = sent_min_older_;
        out.in_flight = static_cast<std::int64_t>(sent_old_ - received_old_);
        sent_min_closed_ = sent_min_current_;
        sent_min_current_ = {};
        sent_old_ += sent_current_;
        sent_current_ = 0;
        received_old_ += received_current_;
        received_current_ = received_next_;
        received_next_ = 0;
        ++epoch_;
    }

    // Everything this worker sent minus everything it received; the sum over all workers is 0 when
    // nothing is in flight.
    std::int64_t balance() const noexcept {
        return static_cast<std::int64_t>(sent_old_ + sent_current_) -
               static_cast<std::int64_t>(received_old_ + received_current_ + received_next_);
    }

  private:
    std::uint32_t epoch_ = 0;  // rounds this worker has cut
    std::uint32_t seen_ = 0;   // rounds whose result it has learnt; epoch_ - 1 ≤ seen_ ≤ epoch_
    // old: stamped before the epoch; current: in it; next: one ahead.
    std::uint64_t sent_old_ = 0, sent_current_ = 0;
    std::uint64_t received_old_ = 0, received_current_ = 0, received_next_ = 0;
    // Minima of what was sent: in the epoch; in the one closed last; before that, if still in flight.
    EventBound sent_min_current_;
    EventBound sent_min_closed_;
    EventBound sent_min_older_;
};

}  // namespace nw
