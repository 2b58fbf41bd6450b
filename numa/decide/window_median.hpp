// The figure of a run that changes little from window to window: the median of five windows, after one that
// does not count, because caches and the last pages are still on their way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace nw {

class WindowMedian {
  public:
    static constexpr std::size_t windows = 5;

    // The next windows are of something else.
    void restart() noexcept {
        warm_ = false;
        measured_ = 0;
    }
    // A window's figure. The median with the last window of a measure, and then the next one begins.
    std::optional<double> feed(double figure) {
        if (!warm_) {
            warm_ = true;
            return std::nullopt;
        }
        figures_[measured_++] = figure;
        if (measured_ < windows) return std::nullopt;
        measured_ = 0;
        const auto middle = figures_.begin() + windows / 2;
        std::nth_element(figures_.begin(), middle, figures_.end());
        return *middle;
    }

  private:
    bool warm_ = false;
    std::size_t measured_ = 0;
    std::array<double, windows> figures_{};  // [0, measured_)
};

}  // namespace nw
