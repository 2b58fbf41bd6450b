// SPDX-License-Identifier: Apache-2.0
// The progress line of a long run. A separate thread writes it. This thread reads the figures that
// the engine publishes at GVT rounds, and neither waits for a worker nor blocks a worker. So a
// blocked terminal does not delay the run.
//
// On a terminal the line is overwritten again and again. A log receives one line per minute: this
// is enough to find out later when the run became slow, and keeps the log short.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <string>
#include <string_view>
#include <thread>

#include "app/options/option_table.hpp"
#include "results/statistics/live_progress.hpp"
#include "util/locks.hpp"

namespace nw {

// Progress of the run at one moment.
struct ProgressSample {
    double seconds = 0;  // since any fixed moment
    VirtualTime gvt = 0;
    std::uint64_t committed_events = 0;
    std::uint64_t executed_events = 0;
};

// Computes the speed over the last 5 seconds, because a mean over the whole run would hide that the
// run has become slower. The remaining time is estimated from a longer period: a quarter of the
// elapsed time, but at least 5 s and at most 300 s. With a shorter period, the estimate for a run
// of hours would change with every short disturbance by another process.
//
// Only differences between samples are used: a restarted run begins with a GVT above 0, which is
// not progress of this process.
class ProgressMeter {
  public:
    explicit ProgressMeter(VirtualTime until) : until_(until) {}

    // Requires: `sample` is not older than the previous one.
    void add(const ProgressSample& sample);

    // Returns virtual time, percentage, events/s, efficiency and remaining time, as far as they are
    // available and fit into `columns`.
    std::string line(std::size_t columns = 80) const;

  private:
    static constexpr double speed_seconds = 5;
    static constexpr double to_go_seconds_max = 300;

    const ProgressSample& sample_before(double seconds) const noexcept;
    std::string time_to_go() const;

    VirtualTime until_;  // infinite: no percentage and no remaining time
    double first_seconds_ = 0;
    std::deque<ProgressSample> samples_;
};

// The times at which a log receives a line: after `first_seconds`, and then every minute.
class LogPace {
  public:
    explicit LogPace(double first_seconds) : next_seconds_(first_seconds) {}

    // Returns true if a line is due at this time. Requires: `seconds` does not decrease. After a
    // long pause (the process was stopped), only one line is due.
    bool is_due(double seconds) noexcept;

  private:
    static constexpr double period_seconds = 60;
    double next_seconds_;
};

class ProgressLine {
  public:
    // Writes to standard error during its lifetime, as `mode` and the kind of terminal require. The
    // destructor waits for the thread, which erases its line from a terminal.
    ProgressLine(ProgressMode mode, VirtualTime until, const LiveProgress& live);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // Prints another message to standard error, on a separate line. Thread: any.
    void print(std::string_view message);

  private:
    void redraw_often();
    void print_rarely(double first_seconds);
    bool wait_for(std::chrono::duration<double> time);  // returns false when the run is over
    void sample(double seconds);
    double elapsed() const noexcept;
    void erase() NW_REQUIRES(writing_);

    const LiveProgress& live_;
    ProgressMeter meter_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    Mutex mutex_;
    std::condition_variable_any over_changed_;
    bool over_ NW_GUARDED_BY(mutex_) = false;
    Mutex writing_;
    bool drawn_ NW_GUARDED_BY(writing_) = false;  // the terminal shows the line
    std::thread thread_;
};

}  // namespace nw
