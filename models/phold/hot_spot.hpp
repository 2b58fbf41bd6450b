// SPDX-License-Identifier: Apache-2.0
// PHOLD's hot spot: a window of LPs with consecutive numbers. The window moves once around all LPs
// in each period of virtual time. The position of the window depends only on virtual time. All
// engines and workers compute the same position, also after a rollback, so the window needs no
// events and no saved state.
//
// Thread: any. A HotSpot does not change after set-up.
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

    // Requires: 1 ≤ width < lps, 0 < period < infinity.
    HotSpot(std::uint32_t lps, std::uint32_t width, double period)
        : lps_(lps), width_(width), period_(period) {}

    std::uint32_t width() const noexcept { return width_; }

    // Returns the first LP of the window at `time`. The window also contains the next width() - 1
    // LPs, where LP 0 follows the last LP.
    std::uint32_t first(nw::VirtualTime time) const noexcept {
        const double turn = std::fmod(time, period_) / period_;
        // Rounding can make the product equal to lps_.
        return std::min(static_cast<std::uint32_t>(turn * lps_), lps_ - 1);
    }

    bool contains(nw::VirtualTime time, nw::LpId lp) const noexcept {
        const std::uint32_t start = first(time), number = nw::index(lp);
        return (number >= start ? number - start : number + (lps_ - start)) < width_;
    }

    // Returns an LP drawn uniformly from the LPs inside or outside of the window.
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
