// SPDX-License-Identifier: Apache-2.0
// The ends of the intervals of measures. --measure-interval gives the length of each interval. The
// first interval begins at --warm-up. An interval includes the events at its beginning and excludes
// the events at its end.
#pragma once

#include <cmath>
#include <cstdint>

#include <numawarp/time.hpp>

namespace nw {

struct MeasureTimes {
    static constexpr std::uint32_t intervals_max = 10'000;

    VirtualTime from = 0;
    VirtualTime length = 0;  // 0: there are no intervals

    bool on() const noexcept { return length > 0; }
    // The functions below require on(). Intervals are counted from 0.
    VirtualTime end_of(std::uint32_t interval) const noexcept {
        return from + (interval + 1.0) * length;
    }
    // The number of intervals that end at or before `time`.
    std::uint32_t ended_by(VirtualTime time) const noexcept {
        if (time < end_of(0)) return 0;
        auto ended = static_cast<std::uint32_t>(std::floor((time - from) / length));
        while (end_of(ended) <= time) ++ended;
        while (ended > 0 && end_of(ended - 1) > time) --ended;
        return ended;
    }
    std::uint32_t ended_before(VirtualTime time) const noexcept {
        const std::uint32_t ended = ended_by(time);
        return ended > 0 && end_of(ended - 1) == time ? ended - 1 : ended;
    }
};

}  // namespace nw
