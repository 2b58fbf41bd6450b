// Measures at intervals (--measure-interval). Where an interval ends, every LP's figures are looked at before
// the LP executes what comes then, or when the run is over. A look may belong to an event that is undone: so
// it is bytes first, which are added when the event is final. What is added is what an LP has measured so
// far; figures of one interval are the difference of two ends, and like the sums they do not depend on who
// looked, and in which order.
//
// Thread: one worker's, or the main one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <numawarp/measures.hpp>

#include "measures/measure_sum.hpp"
#include "plan/measure_times.hpp"

namespace nw {

class IntervalSums {
  public:
    IntervalSums() = default;
    // `measures` outlive this.
    IntervalSums(const std::vector<Measure>& measures, const MeasureTimes& times)
        : measures_(&measures), times_(times) {}

    const MeasureTimes& times() const noexcept { return times_; }
    // Whether an interval has ended at `time` since the LP was looked at for `seen` of them.
    bool is_due(std::uint32_t seen, VirtualTime time) const noexcept {
        return times_.on() && time >= times_.end_of(seen);
    }

    // Looks at the LP for the intervals from `first` to before `end`: calls the model, in the LP's heap.
    void look(const LogicalProcess& lp, std::uint32_t first, std::uint32_t end);
    // What the last look saw. No pointer leads out of it, and it begins with `first`.
    std::span<const std::byte> last_look() const noexcept {
        return std::as_bytes(std::span(look_));
    }
    static std::uint32_t first_of(std::span<const std::byte> look) noexcept;
    // Throws ModelError.
    void add(std::span<const std::byte> look);
    IntervalSums& operator+=(const IntervalSums& other);

    // The intervals that were added to; more than that have no sums.
    std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(ends_.size()); }
    // Of all LPs when the interval ended. Requires: below count().
    const MeasureSum& at_end(std::uint32_t interval, std::size_t measure) const {
        return ends_[interval][measure];
    }

    // As bytes, for another rank or process.
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
    std::string look_;
};

}  // namespace nw
