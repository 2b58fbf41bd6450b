// SPDX-License-Identifier: Apache-2.0
// Measures the load of a group: nanoseconds of work on committed events. Work on events that were
// undone does not count, because it shows the load of other groups rather than the group's own.
//
// A small share of the events is timed; the others are only counted. The group's owner writes the
// meter. The holder of the net role reads it from time to time, to plan rebinding.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <numawarp/time.hpp>

namespace nw {

class LoadMeter {
  public:
    // Thread: the owner. Adds one measured execution time to a running mean, in which a new sample
    // has a weight of 1/16. A sample above 8 times the mean counts as 8 times the mean, because a
    // thread that was preempted measures milliseconds that are not work.
    void sample(double ns) noexcept {
        constexpr double outlier = 8, memory = 16;
        event_ns_ += (std::min(ns, outlier * event_ns_) - event_ns_) / memory;
    }

    // Thread: the owner.
    void commit(std::uint32_t events) noexcept {
        work_ns_.store(work_ns_.load(std::memory_order_relaxed) + events * event_ns_,
                       std::memory_order_relaxed);
    }

    // The pending events of the group at one cut of its owner.
    struct Backlog {
        double ns = 0;         // number of events · mean execution time
        VirtualTime span = 0;  // from GVT to the latest event
    };
    // Thread: the owner, before its cut of a round for which Rebinding::wants_backlogs() is true.
    void note_backlog(std::uint64_t events, VirtualTime span) noexcept {
        backlog_ns_.store(static_cast<double>(events) * event_ns_, std::memory_order_relaxed);
        backlog_span_.store(span, std::memory_order_relaxed);
    }
    // Thread: the holder of the net role, after all cuts of that round.
    Backlog backlog() const noexcept {
        return {backlog_ns_.load(std::memory_order_relaxed),
                backlog_span_.load(std::memory_order_relaxed)};
    }

    // Thread: the holder of the net role. Returns the work since the last call.
    double take() noexcept {
        const double work = work_ns_.load(std::memory_order_relaxed);
        const double taken = work - taken_ns_;
        taken_ns_ = work;
        return taken;
    }

  private:
    std::atomic<double> work_ns_{0};
    std::atomic<double> backlog_ns_{0};
    std::atomic<VirtualTime> backlog_span_{0};
    double event_ns_ = 200;  // an estimate until the first sample
    double taken_ns_ = 0;    // used by the holder of the net role
};

}  // namespace nw
