// The live line of a long run. It runs in a thread of its own, which reads what the engine publishes
// at GVT rounds and never speaks to a worker: a terminal that blocks must not hold up the run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "engine/simulation.hpp"
#include "main/option_table.hpp"

namespace nw {

// What the run said at one moment.
struct ProgressSample {
    double seconds = 0;  // since the start
    VirtualTime gvt = 0;
    std::uint64_t committed_events = 0;
    std::uint64_t executed_events = 0;
};

// Speed over the last seconds: a mean over the whole run would hide that it has slowed down.
class ProgressMeter {
  public:
    explicit ProgressMeter(VirtualTime until) : until_(until) {}

    // Requires: `sample` is not older than the one before.
    void add(const ProgressSample& sample);

    // One line without its end: virtual time, %, events/s, efficiency, time to go.
    std::string line() const;

  private:
    static constexpr double span_seconds = 5;

    VirtualTime until_;  // infinite: neither % nor time to go are known
    std::deque<ProgressSample> samples_;
};

class ProgressLine {
  public:
    // Writes to standard error while it lives, unless `mode` and the terminal say otherwise. Leaves
    // the line empty behind it. Ends when the run does: the destructor waits for its thread.
    ProgressLine(ProgressMode mode, VirtualTime until, const LiveProgress& live);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

  private:
    void redraw_often();
    void print_rarely();
    bool wait_for(std::chrono::duration<double> time);  // false: the run is over
    std::string next_line();

    const LiveProgress& live_;
    ProgressMeter meter_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable over_changed_;
    bool over_ = false;  // under mutex_
    std::thread thread_;
};

}  // namespace nw
