// SPDX-License-Identifier: Apache-2.0
// Measures a value of a run that changes little between windows. The result is the median of five
// windows. The window before these five is ignored, because in this window caches are not warm yet
// and the last pages are still being moved.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace nw {

class WindowMedian {
  public:
    static constexpr std::size_t windows = 5;

    // Begins a new measurement: the next windows measure something else.
    void restart() noexcept {
        warm_ = false;
        measured_ = 0;
    }
    // Adds the value of one window. With the last window of a measurement, returns the median. The
    // next window begins another measurement.
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
    std::array<double, windows> figures_{};  // [0, measured_) are used
};

}  // namespace nw
