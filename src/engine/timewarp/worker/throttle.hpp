// SPDX-License-Identifier: Apache-2.0
// Limits how far a worker may execute beyond GVT: by a horizon in virtual time, by a number of
// generations at one time and, if memory is short, by a number of events.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/timewarp/worker/worker_core.hpp"
#include "event/pending_entry.hpp"

namespace nw {

struct GvtResult;

class Throttle {
  public:
    static constexpr std::uint32_t unlimited = UINT32_MAX;

    explicit Throttle(WorkerCore& core) : core_(core) {}

    // Called for each new GVT. Sets the window that belongs to this GVT, and removes the quota. The
    // window does not delay events before `safe`.
    void on_gvt(const GvtResult& result, VirtualTime safe) noexcept;

    // Sets the number of events that may be executed until the next GVT. 0: as
    // stay_at_gvt_for_memory().
    void set_quota(std::uint32_t events) noexcept;

    // Allows only events at GVT itself, until the next GVT. The worker requests the next GVT round
    // when it has nothing more to execute. Returns whether this call lowers the horizon.
    bool stay_at_gvt() noexcept;
    void stay_at_gvt_for_memory() noexcept;
    // After a pause: allows only events at GVT, until the next GVT.
    void resume() noexcept;

    // Events before the horizon may be executed before the worker reads the next GVT.
    VirtualTime horizon() const noexcept { return horizon_; }

    // Returns how many events of a batch may be executed.
    std::uint32_t allowed(std::uint32_t events) const noexcept { return std::min(events, quota_); }
    void spend(std::uint32_t events) noexcept {
        if (quota_ != unlimited) [[unlikely]]
            set_quota(quota_ - events);
    }

    // Whether the earliest pending event has to wait for a new GVT.
    bool holds_back(const PendingEntry& first) noexcept {
        const bool is_beyond = first.time >= horizon_;
        if (!is_beyond && (is_within_chain(first.generation) ||
                           (first.time == core_.gvt && first.generation <= generation_limit_)))
            [[likely]]
            return false;
        count_stop(is_beyond);
        return true;
    }

    // Whether an event of this generation may run at each time before the horizon. A chain is a
    // sequence of events at one time. Each event of a chain sends the next event, so their
    // generations count up.
    bool is_within_chain(std::uint32_t generation) const noexcept {
        return place_in_chain(generation) <= generations_;
    }

    void validate() const;

  private:
    [[gnu::cold]] void count_stop(bool is_beyond) noexcept;

    WorkerCore& core_;
    VirtualTime horizon_ = 0;             // events before it may be executed now
    std::uint32_t generations_ = 1;       // the last generation that may run beyond GVT
    std::uint64_t generation_limit_ = 1;  // the last generation that may run at GVT itself
    std::uint32_t quota_ = unlimited;     // events that may still be executed before the next GVT
};

}  // namespace nw
