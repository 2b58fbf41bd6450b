// The live line of a long run. It runs in a thread of its own, which reads what the engine publishes
// at GVT rounds and never speaks to a worker: a terminal that blocks must not hold up the run.
//
// On a terminal the line is drawn over and over. A log gets a line a minute: it is read later, by
// somebody who wants to know when the run became slow, and nobody wants to scroll past the rest.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "options/option_table.hpp"
#include "stats/live_progress.hpp"

namespace nw {

// What the run said at one moment.
struct ProgressSample {
    double seconds = 0;  // since some start
    VirtualTime gvt = 0;
    std::uint64_t committed_events = 0;
    std::uint64_t executed_events = 0;
};

// Speed over the last seconds: a mean over the whole run would hide that it has slowed down. The time
// to go is judged by a longer while, a quarter of the run's time so far within bounds: of a run of
// hours it must not jump with every other process of the machine.
//
// Only differences count. A run that was restarted begins at the GVT it had, and that is no speed.
class ProgressMeter {
  public:
    explicit ProgressMeter(VirtualTime until) : until_(until) {}

    // Requires: `sample` is not older than the one before.
    void add(const ProgressSample& sample);

    // Virtual time, %, events/s, efficiency, time to go, as far as they are known and as many of them
    // as fit.
    std::string line(std::size_t columns = 80) const;

  private:
    static constexpr double speed_seconds = 5;
    static constexpr double to_go_seconds_max = 300;

    const ProgressSample& sample_before(double seconds) const noexcept;
    std::string time_to_go() const;

    VirtualTime until_;  // infinite: neither % nor time to go are known
    double first_seconds_ = 0;
    std::deque<ProgressSample> samples_;
};

// When a line is due in a log: after a while, and then every minute.
class LogPace {
  public:
    explicit LogPace(double first_seconds) : next_seconds_(first_seconds) {}

    // Requires: times do not fall. After a long pause (of a process that was stopped) one line is due.
    bool is_due(double seconds) noexcept;

  private:
    static constexpr double period_seconds = 60;
    double next_seconds_;
};

class ProgressLine {
  public:
    // Writes to standard error while it lives, as `mode` and the terminal want it. Leaves the line
    // empty behind it. Ends when the run does: the destructor waits for its thread.
    ProgressLine(ProgressMode mode, VirtualTime until, const LiveProgress& live);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // Something else for standard error, on a line of its own. Thread: any.
    void print(std::string_view message);

  private:
    void redraw_often();
    void print_rarely(double first_seconds);
    bool wait_for(std::chrono::duration<double> time);  // false: the run is over
    void look(double seconds);
    double elapsed() const noexcept;
    void erase();

    const LiveProgress& live_;
    ProgressMeter meter_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable over_changed_;
    bool over_ = false;  // under mutex_
    std::mutex writing_;
    bool drawn_ = false;  // under writing_: the line stands there
    std::thread thread_;
};

}  // namespace nw
