// What a group costs its worker: nanoseconds of work on events that were committed. Wasted work on
// events that were undone does not count, for it is more a sign of others' load than of its own.
//
// One event in many is timed; the rest is counted. Written by the group's owner, looked at now and
// then by whoever plans rebinding.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nw {

class LoadMeter {
  public:
    // Thread: the owner. One execution took so long. The mean forgets slowly; a preempted thread's
    // milliseconds must not count as work.
    void sample(double ns) noexcept {
        constexpr double outlier = 8, memory = 16;
        event_ns_ += (std::min(ns, outlier * event_ns_) - event_ns_) / memory;
    }

    // Thread: the owner.
    void commit(std::uint32_t events) noexcept {
        work_ns_.store(work_ns_.load(std::memory_order_relaxed) + events * event_ns_,
                       std::memory_order_relaxed);
    }

    // Thread: the holder of the net role. Work since the last call.
    double take() noexcept {
        const double work = work_ns_.load(std::memory_order_relaxed);
        const double taken = work - taken_ns_;
        taken_ns_ = work;
        return taken;
    }

  private:
    std::atomic<double> work_ns_{0};
    double event_ns_ = 200;  // a guess, until sampled
    double taken_ns_ = 0;    // the net role's
};

}  // namespace nw
