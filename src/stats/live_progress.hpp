// What is known of a run while it goes on, and how it speaks to its user.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "stats/stopwatch.hpp"

namespace nw {

// What a long run tells while it runs. Written by the engine at GVT rounds (sequential: every few
// thousand events), read by the progress line at any time.
struct LiveProgress {
    std::atomic<double> gvt{0};
    std::atomic<std::uint64_t> committed_events{0};
    std::atomic<std::uint64_t> executed_events{0};
    std::atomic<std::uint64_t> groups_moved{0};

    // False while the run is set up. What stands above when it becomes true is where the run begins: a
    // run that was restarted has a GVT then.
    std::atomic<bool> begun{false};
    Stopwatch since_begin;
    // Thread: the one that writes what stands above.
    void begin(double first_gvt) {
        gvt.store(first_gvt, std::memory_order_relaxed);
        since_begin = {};
        begun.store(true, std::memory_order_release);
    }
    // Words for a phase that may last long and in which nothing reads a request to stop: on_end(), and the writing of the
    // results. Null in other phases.
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

    // Called by any thread of the run, rarely, with one line that the user should see while it goes
    // on. May be empty. Set before the run.
    std::function<void(const std::string&)> warn;

    // Called when the run has failed on this rank of several, in the handler of the exception and before
    // anything is taken down: other ranks are still running, and to take a transport or memory down
    // beside them may never end. Need not return. May be empty. Set before the run.
    std::function<void()> failed;

    // Called before the run begins with a line for each rank: where its workers will run. May be empty.
    // Set before the run.
    std::function<void(const std::string&)> announce;

    // How often the user has asked where the run's pages are. While the engine watches placement it
    // answers, by warn().
    std::atomic<std::uint32_t> placement_requests{0};
    std::atomic<bool> placement_watched{false};
};

}  // namespace nw
