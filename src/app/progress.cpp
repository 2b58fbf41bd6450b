// SPDX-License-Identifier: Apache-2.0
#include "app/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/standard_error.hpp"
#include "engine/worker_threads.hpp"
#include "numa/os/signals.hpp"
#include "util/locks.hpp"
#include "util/number_text.hpp"

namespace nw {

namespace {

using std::chrono::duration;

constexpr duration<double> redraw_period{0.2};
// Seconds until the first line. With --progress on, the first line comes early and shows that the
// option works. Without the option, the log of a short run stays empty.
constexpr double first_asked_for_seconds = 10;
constexpr double first_unasked_seconds = 60;
// An estimate of the remaining time from a shorter period would be a guess.
constexpr double first_judged_seconds = 1;
constexpr double to_go_seconds_said = 999 * 86'400.0;

std::size_t terminal_columns() noexcept {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

// True if a line on standard error can be overwritten.
bool is_terminal() {
    const char* kind = std::getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::string share_of_way(double share) {
    // Do not round up to 100 % before the end is reached.
    return share_text(share < 1 ? std::min(share, 0.999) : 1);
}

}  // namespace

void ProgressMeter::add(const ProgressSample& sample) {
    if (samples_.empty()) first_seconds_ = sample.seconds;
    samples_.push_back(sample);
    while (samples_.size() > 2 && sample.seconds - samples_[1].seconds >= to_go_seconds_max)
        samples_.pop_front();
}

// Returns the youngest sample that is at least `seconds` old, or else the first one. Requires:
// there is a sample.
const ProgressSample& ProgressMeter::sample_before(double seconds) const noexcept {
    const double time = samples_.back().seconds - seconds;
    const auto younger =
        std::upper_bound(samples_.begin(), samples_.end(), time,
                         [](double t, const ProgressSample& sample) { return t < sample.seconds; });
    return younger == samples_.begin() ? *younger : *std::prev(younger);
}

std::string ProgressMeter::time_to_go() const {
    const ProgressSample& now = samples_.back();
    if (!std::isfinite(until_)) return {};
    if (now.gvt >= until_) return "finishing";
    const double so_far = now.seconds - first_seconds_;
    const ProgressSample& from = sample_before(std::max(speed_seconds, so_far / 4));
    if (so_far < first_judged_seconds || now.gvt <= from.gvt) return {};
    const double seconds = (until_ - now.gvt) * (now.seconds - from.seconds) / (now.gvt - from.gvt);
    if (seconds < 1) return "ETA under 1 s";
    if (seconds < 59.5) return fmt::format("ETA {:.0f} s", seconds);
    if (seconds > to_go_seconds_said) return "ETA over 999 days";
    return "ETA " + duration_text(seconds);
}

std::string ProgressMeter::line(std::size_t columns) const {
    if (samples_.empty()) return std::string("setting up").substr(0, columns);
    const ProgressSample& now = samples_.back();
    const ProgressSample& from = sample_before(speed_seconds);
    const double seconds = now.seconds - from.seconds;
    const auto events = static_cast<double>(now.committed_events - from.committed_events);

    const bool has_end = std::isfinite(until_);
    const std::string share = has_end ? share_of_way(now.gvt / until_) : "";
    const std::string way = has_end ? fmt::format("at {}/{} ({})", virtual_time_text(now.gvt),
                                                  virtual_time_text(until_), share)
                                    : fmt::format("at {}", virtual_time_text(now.gvt));
    std::string speed, efficiency;
    if (seconds > 0) speed = count_text(events / seconds) + " events/s";
    if (now.executed_events > from.executed_events) {
        // The two counts are read one after the other, so the quotient may exceed 1.
        const double executed = static_cast<double>(now.executed_events - from.executed_events);
        efficiency = fmt::format("efficiency {:.0f} %", 100 * std::min(1.0, events / executed));
    }
    const std::string to_go = time_to_go();

    // The possible lines, from the longest line to the shortest one that is useful.
    const std::vector<std::string> lines[] = {{way, speed, efficiency, to_go},
                                              {way, speed, to_go},
                                              {way, to_go},
                                              {share, to_go},
                                              {share}};
    std::string joined;
    for (const std::vector<std::string>& parts : lines) {
        joined.clear();
        for (const std::string& part : parts)
            if (!part.empty()) joined += (joined.empty() ? "" : " | ") + part;
        if (!joined.empty() && joined.size() <= columns) return joined;
    }
    return way.substr(0, columns);
}

bool LogPace::is_due(double seconds) noexcept {
    if (seconds < next_seconds_) return false;
    while (next_seconds_ <= seconds) next_seconds_ += period_seconds;
    return true;
}

ProgressLine::ProgressLine(ProgressMode mode, VirtualTime until, const LiveProgress& live)
    : live_(live), meter_(until) {
    if (mode == ProgressMode::off) return;
    const double first_seconds =
        mode == ProgressMode::on ? first_asked_for_seconds : first_unasked_seconds;
    const SignalsBlocked blocked;
    thread_ = start_thread<std::thread>("that shows the progress",
                                        [this, terminal = is_terminal(), first_seconds] {
                                            terminal ? redraw_often() : print_rarely(first_seconds);
                                        });
}

ProgressLine::~ProgressLine() {
    if (!thread_.joinable()) return;
    {
        const LockGuard lock(mutex_);
        over_ = true;
    }
    over_changed_.notify_one();
    thread_.join();
}

void ProgressLine::print(std::string_view message) {
    const LockGuard lock(writing_);
    erase();
    write_to_stderr(fmt::format("{}\n", message));
}

void ProgressLine::erase() {
    if (drawn_) write_to_stderr("\r\x1b[K");
    drawn_ = false;
}

void ProgressLine::redraw_often() {
    while (wait_for(redraw_period)) {
        sample(elapsed());
        const std::size_t columns = terminal_columns();
        const LockGuard lock(writing_);
        // Leave the last column empty: after writing into it, some terminals move to the next line.
        write_to_stderr(fmt::format("\r{}\x1b[K", meter_.line(columns - 1)));
        drawn_ = true;
    }
    const LockGuard lock(writing_);
    erase();
}

void ProgressLine::print_rarely(double first_seconds) {
    // Samples are taken as often as for a terminal, so that the line shows the speed of the last 5
    // seconds.
    LogPace pace(first_seconds);
    while (wait_for(redraw_period)) {
        const double seconds = elapsed();
        sample(seconds);
        if (pace.is_due(seconds)) print(fmt::format("numawarp: {}", meter_.line(1000)));
    }
}

bool ProgressLine::wait_for(duration<double> time) {
    LockGuard lock(mutex_);
    return !over_changed_.wait_for(lock, time, [this]() NW_REQUIRES(mutex_) { return over_; });
}

double ProgressLine::elapsed() const noexcept {
    return duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressLine::sample(double seconds) {
    // Pairs with the release in LiveProgress::begin().
    if (!live_.begun.load(std::memory_order_acquire)) return;
    meter_.add({seconds, live_.gvt.load(std::memory_order_relaxed),
                live_.committed_events.load(std::memory_order_relaxed),
                live_.executed_events.load(std::memory_order_relaxed)});
}

}  // namespace nw
