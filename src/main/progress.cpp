#include "main/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "main/human.hpp"

namespace nw {

namespace {

using std::chrono::duration;

constexpr duration<double> redraw_period{0.2};
constexpr duration<double> first_print{10};
constexpr duration<double> print_period{60};

std::size_t terminal_columns() noexcept {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

}  // namespace

void ProgressMeter::add(const ProgressSample& sample) {
    samples_.push_back(sample);
    while (samples_.size() > 2 && sample.seconds - samples_[1].seconds >= span_seconds)
        samples_.pop_front();
}

std::string ProgressMeter::line() const {
    if (samples_.empty()) return "starting";
    const ProgressSample& from = samples_.front();
    const ProgressSample& now = samples_.back();
    const double seconds = now.seconds - from.seconds;
    const auto events = static_cast<double>(now.committed_events - from.committed_events);

    // Short enough for 80 columns with every number at its longest.
    std::string line = fmt::format("at {}", human_time(now.gvt));
    if (std::isfinite(until_))
        line += fmt::format("/{} ({})", human_time(until_), human_share(now.gvt / until_));
    if (seconds <= 0) return line;
    line += fmt::format(" | {} events/s", human_count(events / seconds));
    if (now.executed_events > from.executed_events) {
        // The two counts are read one after the other, so that a share may come out above 1.
        const double executed = static_cast<double>(now.executed_events - from.executed_events);
        line += fmt::format(" | efficiency {:.0f} %", 100 * std::min(1.0, events / executed));
    }
    if (std::isfinite(until_) && now.gvt > from.gvt)
        line += fmt::format(" | ETA {}",
                            human_duration((until_ - now.gvt) * seconds / (now.gvt - from.gvt)));
    return line;
}

ProgressLine::ProgressLine(ProgressMode mode, VirtualTime until, const LiveProgress& live)
    : live_(live), meter_(until) {
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (mode == ProgressMode::off || (mode == ProgressMode::automatic && !terminal)) return;
    thread_ = std::thread([this, terminal] { terminal ? redraw_often() : print_rarely(); });
}

ProgressLine::~ProgressLine() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    over_changed_.notify_one();
    thread_.join();
}

void ProgressLine::redraw_often() {
    while (wait_for(redraw_period))
        fmt::print(stderr, "\r{}\x1b[K", next_line().substr(0, terminal_columns() - 1));
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
}

void ProgressLine::print_rarely() {
    // Samples are taken as often as for a terminal, so that the speed is that of the last seconds.
    double next = first_print.count();
    while (wait_for(redraw_period)) {
        const std::string line = next_line();
        const duration<double> elapsed = std::chrono::steady_clock::now() - start_;
        if (elapsed.count() < next) continue;
        fmt::print(stderr, "{}\n", line);
        next += print_period.count();
    }
}

bool ProgressLine::wait_for(duration<double> time) {
    std::unique_lock lock(mutex_);
    return !over_changed_.wait_for(lock, time, [this] { return over_; });
}

std::string ProgressLine::next_line() {
    const duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    meter_.add({elapsed.count(), live_.gvt.load(std::memory_order_relaxed),
                live_.committed_events.load(std::memory_order_relaxed),
                live_.executed_events.load(std::memory_order_relaxed)});
    return meter_.line();
}

}  // namespace nw
