// SPDX-License-Identifier: Apache-2.0
// Figures of merit: the values that a model measures. Each figure is a member of an LP and a plain
// value of constant size. It is rolled back with its LP if --rollback is snapshot or copy.
// Recording a value allocates no memory.
//
//     nw::Tally waited;            waited.record(c.now(), c.now() - came);
//     nw::TimeAverage queue;       queue.add(c.now(), +1);
//     nw::Histogram<20> lengths{0, 100};
//     nw::Count lost;              lost.add(c.now());
//
// Nothing before --warm-up is recorded. Each record compares the time of the value with --warm-up.
// The value of --warm-up is fixed before the first LP is built. If the level of a TimeAverage was
// set before --warm-up, the average contains this level from --warm-up on. Setup::measures combines
// the figures of all LPs (measures.hpp).
//
// --rollback reverse does not restore figures, because subtraction cannot undo sums of rounded
// numbers. A reverse handler restores a figure from a copy that the model has kept.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <numawarp/math.hpp>
#include <numawarp/time.hpp>

namespace nw {

// The type of a figure in reports and statistics.
enum class FigureKind : std::uint8_t {
    tally,         // nw::Tally and nw::BasicTally
    time_average,  // nw::TimeAverage
    histogram,     // nw::Histogram
    count          // nw::Count
};

namespace detail {

// The value of --warm-up. It is a reference instead of a function, because it is read for each
// recorded value.
extern const VirtualTime& measured_from;
// Called before LPs are built, never while handlers run.
void set_measured_from(VirtualTime time) noexcept;

// The largest value of a figure: squares of figures must not overflow.
inline constexpr double figure_max = 1e100;
// These functions throw ModelError.
[[noreturn]] void refuse_value(double value);
[[noreturn]] void refuse_time(VirtualTime time, VirtualTime last);
[[noreturn]] void refuse_bounds(double low, double high);
inline void check_value(double value) {
    if (!(std::abs(value) <= figure_max)) [[unlikely]]
        refuse_value(value);
}

// The mean, and the sum of squares about the mean, of weighted values (West: "Updating mean and
// variance estimates: an improved method", 1979).
struct Moments {
    double weight = 0;
    double mean = 0;
    double squares = 0;
    double least = 0;  // has no meaning if the weight is 0; the same holds for `most`
    double most = 0;

    void add(double value, double with_weight) noexcept {
        least = weight > 0 ? std::min(least, value) : value;
        most = weight > 0 ? std::max(most, value) : value;
        weight += with_weight;
        const double apart = value - mean;
        mean += apart * (with_weight / weight);
        squares += with_weight * apart * (value - mean);
    }
    double variance() const noexcept { return weight > 1 ? squares / (weight - 1) : 0; }
};

// The buckets from which quantiles are computed. At level 0, an octave (the values from x to 2x)
// has 64 buckets, each wider than the one before by the same factor. The key of the value 0 is 0.
// Positive values have keys above 0, and a negative value has the negated key of its absolute
// value, so that keys are in the order of values. Each level has half as many buckets per octave as
// the level before, because two neighboring buckets become one.
struct Buckets {
    static constexpr std::int32_t an_octave = 64;
    // The key of the value 1. It is so large that every positive value has a positive key.
    static constexpr std::int32_t of_one = 1 << 17;
    static constexpr unsigned level_max = 15;
    static constexpr double log_of_two = 0x1.62e42fefa39efp-1;

    static std::int32_t key_of(double value) noexcept {
        if (value == 0) return 0;
        const double octaves = math::log(std::abs(value)) / log_of_two;
        const auto key = static_cast<std::int32_t>(std::floor(octaves * an_octave)) + of_one;
        return value > 0 ? key : -key;
    }
    static std::int32_t at_level(std::int32_t key, unsigned level) noexcept {
        return key >= 0 ? key >> level : -(-key >> level);
    }
    // The value that represents a key. The relative error is at most error_of(level).
    static double value_of(std::int32_t key, unsigned level) noexcept {
        if (key == 0) return 0;
        const double width = ratio_of(level);
        const double first =
            static_cast<double>((std::int64_t{std::abs(key)} << level) - of_one) / an_octave;
        const double value = math::exp(first * log_of_two) * (2 * width / (width + 1));
        return key > 0 ? value : -value;
    }
    static double error_of(unsigned level) noexcept {
        return (ratio_of(level) - 1) / (ratio_of(level) + 1);
    }

  private:
    static double ratio_of(unsigned level) noexcept {
        return math::exp(log_of_two / an_octave * static_cast<double>(1u << level));
    }
};

// The number of values in each bucket. If the values need more than buckets_max buckets, the sketch
// changes to the next level, which has wider buckets. This is the sketch of Masson, Rim and Lee
// ("DDSketch", 2019), with the uniform collapse of Epicoco et al. ("UDDSketch", 2020). The sketch
// stores a list of the buckets that are not empty.
template <std::uint32_t buckets_max>
class Sketch {
    static_assert(buckets_max >= 16,
                  "a sketch must have at least 16 buckets, because its widest level may need 13");

  public:
    void add(double value) noexcept {
        const std::int32_t finest = Buckets::key_of(value);
        for (;;) {
            const std::int32_t key = Buckets::at_level(finest, level_);
            const std::uint32_t at = static_cast<std::uint32_t>(
                std::lower_bound(keys_.begin(), keys_.begin() + used_, key) - keys_.begin());
            if (at < used_ && keys_[at] == key) {
                ++counts_[at];
                return;
            }
            if (used_ < buckets_max) {
                insert(at, key);
                return;
            }
            widen();
        }
    }
    std::span<const std::int32_t> keys() const noexcept { return {keys_.data(), used_}; }
    std::span<const std::uint32_t> counts() const noexcept { return {counts_.data(), used_}; }
    unsigned level() const noexcept { return level_; }

  private:
    void insert(std::uint32_t at, std::int32_t key) noexcept {
        std::copy_backward(keys_.begin() + at, keys_.begin() + used_, keys_.begin() + used_ + 1);
        std::copy_backward(counts_.begin() + at, counts_.begin() + used_,
                           counts_.begin() + used_ + 1);
        keys_[at] = key;
        counts_[at] = 1;
        ++used_;
    }
    void widen() noexcept {
        ++level_;
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < used_; ++i) {
            const std::int32_t key = Buckets::at_level(keys_[i], 1);
            const std::uint32_t count = counts_[i];
            if (kept > 0 && keys_[kept - 1] == key) {
                counts_[kept - 1] += count;
            } else {
                keys_[kept] = key;
                counts_[kept++] = count;
            }
        }
        used_ = kept;
    }

    std::array<std::int32_t, buckets_max> keys_{};     // ascending; the first used_ are valid
    std::array<std::uint32_t, buckets_max> counts_{};  // count of each key
    std::uint32_t used_ = 0;
    std::uint32_t level_ = 0;
};
template <>
class Sketch<0> {
  public:
    void add(double) noexcept {}
    std::span<const std::int32_t> keys() const noexcept { return {}; }
    std::span<const std::uint32_t> counts() const noexcept { return {}; }
    unsigned level() const noexcept { return 0; }
};

// The contents of a figure, as the engine reads them.
struct FigureView {
    FigureKind kind = FigureKind::tally;
    std::uint64_t count = 0;
    Moments moments{};
    std::span<const std::int32_t> keys{};     // tally: the keys of its buckets
    std::span<const std::uint32_t> counts{};  // tally: the count of each bucket
    unsigned level = 0;                       // tally: the level of its buckets
    std::span<const std::uint64_t> bins{};    // histogram: its bins
    double low = 0, high = 0;                 // histogram: its bounds
};

}  // namespace detail

// Individual values, each recorded when it is known: waiting times, lengths, or 0 and 1 for no and
// yes. `buckets` is the number of buckets for quantiles. With 0 buckets there are no quantiles, and
// a tally takes 48 bytes.
template <std::uint32_t buckets>
class BasicTally {
  public:
    // Adds a value. Requires: a number from -1e100 to 1e100; a breach throws ModelError.
    void record(VirtualTime now, double value) {
        detail::check_value(value);
        if (now < detail::measured_from) return;
        moments_.add(value, 1);
        ++count_;
        sketch_.add(value);
    }

    // The number of values.
    std::uint64_t count() const noexcept { return count_; }
    // The mean of the values; 0 without values.
    double mean() const noexcept { return moments_.mean; }
    // The sample variance: the sum of squares about the mean, divided by count() - 1; 0 for fewer
    // than two values.
    double variance() const noexcept { return moments_.variance(); }
    // The smallest value; 0 without values.
    double least() const noexcept { return moments_.least; }
    // The largest value; 0 without values.
    double most() const noexcept { return moments_.most; }

    // For the engine: the contents, which it merges over LPs.
    detail::FigureView view(VirtualTime) const noexcept {
        return {.kind = FigureKind::tally,
                .count = count_,
                .moments = moments_,
                .keys = sketch_.keys(),
                .counts = sketch_.counts(),
                .level = sketch_.level()};
    }

  private:
    std::uint64_t count_ = 0;
    detail::Moments moments_;
    [[no_unique_address]] detail::Sketch<buckets> sketch_;
};
// A tally with quantiles. The error of a quantile is at most 0.5 % of the value while the values
// span two octaves. The error doubles each time the span doubles. A Tally takes about 1 KiB.
using Tally = BasicTally<128>;

// A level that holds until it changes: the length of a queue, the number of busy machines. The
// average is taken from time 0, or from --warm-up, to the end of the run.
class TimeAverage {
  public:
    // Begins at level 0.
    TimeAverage() = default;
    // Begins at the given level.
    explicit TimeAverage(double level) : level_(level) {}

    // Sets the level from `now` on. Requires: `now` is not before the time of an earlier call; a
    // level from -1e100 to 1e100; a breach throws ModelError.
    void set(VirtualTime now, double level) {
        detail::check_value(level);
        if (!(now >= since_)) [[unlikely]]
            detail::refuse_time(now, since_);
        account(now);
        count_ += now >= detail::measured_from;
        level_ = level;
    }
    // Changes the level by `change`. Requires: as for set().
    void add(VirtualTime now, double change) { set(now, level_ + change); }

    // The present level.
    double level() const noexcept { return level_; }
    // The mean over time until `now`; 0 if no time has passed.
    double mean(VirtualTime now) const noexcept { return until(now).moments_.mean; }

    // For the engine: the contents, which it merges over LPs.
    detail::FigureView view(VirtualTime end) const noexcept {
        return {.kind = FigureKind::time_average, .count = count_, .moments = until(end).moments_};
    }

  private:
    void account(VirtualTime now) noexcept {
        const VirtualTime from = std::max(since_, detail::measured_from);
        if (now > from) moments_.add(level_, now - from);
        since_ = now;
    }
    TimeAverage until(VirtualTime now) const noexcept {
        TimeAverage closed = *this;
        closed.account(now);
        return closed;
    }

    double level_ = 0;
    VirtualTime since_ = 0;
    std::uint64_t count_ = 0;  // number of changes
    detail::Moments moments_;  // up to since_
};

// Counts values in `bins` bins of equal width in [low, high), and the values below and above.
template <std::uint32_t bins>
class Histogram {
    static_assert(bins > 0, "a histogram must have at least one bin");

  public:
    // A histogram without values. Requires: low < high, both finite, and high - low ≤ 1e100; a
    // breach throws ModelError. All LPs must have the same bounds.
    Histogram(double low, double high) : low_(low), high_(high) {
        if (!(low < high && high - low <= detail::figure_max)) detail::refuse_bounds(low, high);
    }

    // Adds a value. Requires: a number from -1e100 to 1e100; a breach throws ModelError.
    void record(VirtualTime now, double value) {
        detail::check_value(value);
        if (now < detail::measured_from) return;
        moments_.add(value, 1);
        ++count_;
        ++bins_[bin_of(value)];
    }

    // The number of values, inside and outside of the bounds.
    std::uint64_t count() const noexcept { return count_; }
    // The mean of the values; 0 without values.
    double mean() const noexcept { return moments_.mean; }
    // The number of values below the bounds, in each bin, and above the bounds: bins + 2 numbers.
    std::span<const std::uint64_t> counts() const noexcept { return bins_; }

    // For the engine: the contents, which it merges over LPs.
    detail::FigureView view(VirtualTime) const noexcept {
        return {.kind = FigureKind::histogram,
                .count = count_,
                .moments = moments_,
                .bins = bins_,
                .low = low_,
                .high = high_};
    }

  private:
    std::size_t bin_of(double value) const noexcept {
        if (value < low_) return 0;
        const double place = (value - low_) / (high_ - low_) * bins;
        return place < bins ? static_cast<std::size_t>(place) + 1 : bins + 1;
    }

    double low_, high_;
    std::uint64_t count_ = 0;
    detail::Moments moments_;
    std::array<std::uint64_t, bins + 2> bins_{};
};

// The number of times that something happens.
class Count {
  public:
    // Adds one occurrence, or `times` occurrences.
    void add(VirtualTime now, std::uint64_t times = 1) noexcept {
        if (now >= detail::measured_from) count_ += times;
    }
    // The number of occurrences so far.
    std::uint64_t count() const noexcept { return count_; }

    // For the engine: the contents. A measure treats the count of each LP as one value.
    detail::FigureView view(VirtualTime) const noexcept {
        detail::Moments moments;
        moments.add(static_cast<double>(count_), 1);
        return {.kind = FigureKind::count, .count = count_, .moments = moments};
    }

  private:
    std::uint64_t count_ = 0;
};

}  // namespace nw
