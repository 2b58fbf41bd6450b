// Where PHOLD's hot spot is: a window of neighbouring LPs that goes once around all LPs in every
// period of virtual time. A pure function of virtual time, so that every engine, worker and rollback
// finds it in the same place and nothing has to be sent or restored. Never changes after set-up; any
// thread reads it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace phold {

class HotSpot {
  public:
    HotSpot() = default;

    // Requires: 1 ≤ width < lps, and period above 0 and finite.
    HotSpot(std::uint32_t lps, std::uint32_t width, double period)
        : lps_(lps), width_(width), period_(period) {}

    std::uint32_t width() const noexcept { return width_; }

    // The window at `time` is first(time) and the width() - 1 LPs after it; LP 0 follows the last.
    std::uint32_t first(nw::VirtualTime time) const noexcept {
        const double turn = std::fmod(time, period_) / period_;
        // The product may be rounded up to lps_.
        return std::min(static_cast<std::uint32_t>(turn * lps_), lps_ - 1);
    }

    bool contains(nw::VirtualTime time, nw::LpId lp) const noexcept {
        const std::uint32_t start = first(time), number = nw::index(lp);
        return (number >= start ? number - start : number + (lps_ - start)) < width_;
    }

    // One LP of the window, uniformly, or one of all others.
    template <class Random>
    nw::LpId draw_inside(nw::VirtualTime time, Random& random) const {
        return lp_after(first(time), random.below(width_));
    }
    template <class Random>
    nw::LpId draw_outside(nw::VirtualTime time, Random& random) const {
        return lp_after(first(time), width_ + random.below(lps_ - width_));
    }

  private:
    nw::LpId lp_after(std::uint32_t start, std::uint64_t steps) const noexcept {
        return nw::LpId(static_cast<std::uint32_t>((start + steps) % lps_));
    }

    std::uint32_t lps_ = 2;
    std::uint32_t width_ = 1;
    double period_ = 1;
};

}  // namespace phold
