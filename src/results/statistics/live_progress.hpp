// SPDX-License-Identifier: Apache-2.0
// The state of a run while it is under way, and the messages of the run to its user.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "results/statistics/stopwatch.hpp"

namespace nw {

// Progress of a run. The engine writes the members at GVT rounds (the sequential engine every few
// thousand events). The thread of the progress line reads them at any time.
struct LiveProgress {
    std::atomic<double> gvt{0};
    std::atomic<std::uint64_t> committed_events{0};
    std::atomic<std::uint64_t> executed_events{0};
    std::atomic<std::uint64_t> groups_moved{0};

    // False during set-up. When it becomes true, the members above describe the start of the run; a
    // restarted run begins with a GVT above 0.
    std::atomic<bool> begun{false};
    Stopwatch since_begin;
    // Thread: the thread that writes the members above.
    void begin(double first_gvt) {
        gvt.store(first_gvt, std::memory_order_relaxed);
        since_begin = {};
        begun.store(true, std::memory_order_release);
    }
    // Describes a long phase in which no thread reads a request to stop: on_end(), or the writing
    // of the results. Null in other phases.
    std::atomic<const char*> unstoppable{nullptr};
    class Unstoppable {
      public:
        Unstoppable(LiveProgress& live, const char* words) : live_(live) {
            live.unstoppable = words;
        }
        ~Unstoppable() { live_.unstoppable = nullptr; }
        Unstoppable(const Unstoppable&) = delete;
        Unstoppable& operator=(const Unstoppable&) = delete;

      private:
        LiveProgress& live_;
    };

    // Called rarely, by any thread of the run, with one line for the user. The function may be
    // empty. It is set before the run.
    std::function<void(const std::string&)> warn;

    // Called if the run has failed on one of several ranks: in the handler of the exception, before
    // any object is destroyed. Other ranks are still running, so destroying the transport or memory
    // might block forever. The function need not return. It may be empty, and is set before the
    // run.
    std::function<void()> failed;

    // Called before the run begins, once for each rank, with a line that describes where the
    // workers of this rank will run. The function may be empty. It is set before the run.
    std::function<void(const std::string&)> announce;

    // Counts the user's requests to report where the run's pages are. While placement_watched is
    // true, the engine answers the requests through warn().
    std::atomic<std::uint32_t> placement_requests{0};
    std::atomic<bool> placement_watched{false};
};

}  // namespace nw
