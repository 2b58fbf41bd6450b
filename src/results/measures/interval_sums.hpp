// SPDX-License-Identifier: Apache-2.0
// Sums of measures at the ends of intervals (--measure-interval). When an interval has ended, the
// figures of each LP are read before the LP executes its next event, or after the run. A reading
// (`sample` in the code) may belong to an event that is undone later. Therefore the reading is
// stored as bytes, which are added to the sums when the event is committed.
//
// A reading contains everything that an LP has measured since the beginning. The figures of one
// interval are the difference between the sums at its end and the sums at the end of the interval
// before it. Like MeasureSum, the sums do not depend on the order in which readings are added.
//
// Thread: an object belongs to one worker or to the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <numawarp/measures.hpp>

#include "plan/measure_times.hpp"
#include "results/measures/measure_sum.hpp"

namespace nw {

class IntervalSums {
  public:
    IntervalSums() = default;
    // Requires: `measures` outlives this object.
    IntervalSums(const std::vector<Measure>& measures, const MeasureTimes& times)
        : measures_(&measures), times_(times) {}

    const MeasureTimes& times() const noexcept { return times_; }
    // Whether another interval has ended at `time`. `seen`: the number of intervals for which the
    // LP's figures have been read.
    bool is_due(std::uint32_t seen, VirtualTime time) const noexcept {
        return times_.on() && time >= times_.end_of(seen);
    }

    // Reads the LP's figures for the intervals from `first` to `end` - 1. Calls code of the model
    // in the LP's heap.
    void sample(const LogicalProcess& lp, std::uint32_t first, std::uint32_t end);
    // The bytes of the reading of the last call of sample(). They contain no pointers.
    std::span<const std::byte> last_sample() const noexcept {
        return std::as_bytes(std::span(sample_));
    }
    // The number `first` with which sample() was called for this reading.
    static std::uint32_t first_of(std::span<const std::byte> sample) noexcept;
    // Adds a reading to the sums. Throws ModelError if the LPs' figures cannot be combined.
    void add(std::span<const std::byte> sample);
    IntervalSums& operator+=(const IntervalSums& other);

    // The number of intervals that have sums.
    std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(ends_.size()); }
    // The sum over all LPs at the end of the interval. Requires: interval < count().
    const MeasureSum& at_end(std::uint32_t interval, std::size_t measure) const {
        return ends_[interval][measure];
    }

    // Packs or unpacks the sums, for another rank or process.
    template <class Part>
    static void pack(Part& part, auto& sums) {
        part.each(sums.ends_, [&](auto& end) {
            part.each(end, [&](auto& sum) { MeasureSum::pack(part, sum); });
        });
    }

  private:
    void put_view(const detail::FigureView& view);
    template <class T>
    void put(std::span<const T> values);

    const std::vector<Measure>* measures_ = nullptr;
    MeasureTimes times_;
    std::vector<std::vector<MeasureSum>> ends_;  // by interval and measure
    std::string sample_;
};

}  // namespace nw
