// How far a worker may run ahead of GVT: up to a horizon in virtual time, so many generations within one
// instant, and, where memory is short, so many events.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "event/event_key.hpp"
#include "worker/worker_core.hpp"

namespace nw {

struct GvtResult;

class Throttle {
  public:
    static constexpr std::uint32_t unlimited = UINT32_MAX;

    explicit Throttle(WorkerCore& core) : core_(core) {}

    // A new GVT is known: the window that goes with it, and no quota. What is before `safe` need not wait.
    void on_gvt(const GvtResult& result, VirtualTime safe) noexcept;

    // Until the next GVT so many events may be executed; none: as stay_at_gvt() for want of memory.
    void set_quota(std::uint32_t events) noexcept;

    // Only what lies at GVT itself may run, until the next one is known, which this worker will ask for
    // when it finds nothing more to do. Returns whether that is less than before.
    bool stay_at_gvt() noexcept;
    void stay_at_gvt_for_memory() noexcept;
    // After a pause: as far as GVT, until the next one says more.
    void resume() noexcept;

    // Events before it may be executed before the next GVT is known.
    VirtualTime horizon() const noexcept { return horizon_; }

    // How many events of a batch may be executed.
    std::uint32_t allowed(std::uint32_t events) const noexcept { return std::min(events, quota_); }
    void spend(std::uint32_t events) noexcept {
        if (quota_ != unlimited) [[unlikely]]
            set_quota(quota_ - events);
    }

    // Whether the earliest pending event has to wait for a new GVT.
    bool holds_back(const PendingEntry& first) noexcept {
        const bool is_beyond = first.time >= horizon_;
        if (!is_beyond && (place_in_chain(first.generation) <= generations_ ||
                           (first.time == core_.gvt && first.generation <= generation_limit_)))
            [[likely]]
            return false;
        count_stop(is_beyond);
        return true;
    }

    void validate() const;

  private:
    [[gnu::cold]] void count_stop(bool is_beyond) noexcept;

    WorkerCore& core_;
    VirtualTime horizon_ = 0;             // events before it may be executed now
    std::uint32_t generations_ = 1;       // the last that may run beyond GVT
    std::uint64_t generation_limit_ = 1;  // at GVT itself
    std::uint32_t quota_ = unlimited;     // events that may still be executed before the next GVT
};

}  // namespace nw
