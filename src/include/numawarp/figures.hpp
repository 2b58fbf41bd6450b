// Figures of merit: what a model measures. Each is a member of an LP, a plain value of constant size: it
// comes back with the LP, by snapshot as by copy, and nothing is allocated when something is recorded.
//
//     nw::Tally waited;            waited.record(c.now(), c.now() - came);
//     nw::TimeAverage queue;       queue.add(c.now(), +1);
//     nw::Histogram<20> lengths{0, 100};
//     nw::Count lost;              lost.add(c.now());
//
// What happens before --warm-up is not recorded: each figure compares the time that it is told with that
// one, which is fixed before the first LP is built. A level that began earlier counts from then on.
// Figures of all LPs become one by Setup::measures (measures.hpp).
//
// --rollback reverse does not know them: sums of rounded numbers cannot be taken back by subtraction. A
// reverse handler restores a figure from a copy that the model has kept.
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

// Which of them it is, in reports and statistics.
enum class FigureKind : std::uint8_t {
    tally,         // nw::Tally and nw::BasicTally
    time_average,  // nw::TimeAverage
    histogram,     // nw::Histogram
    count          // nw::Count
};

namespace detail {

// --warm-up. Written before LPs are built, and not while handlers run.
inline VirtualTime measured_from = 0;

// These fail the handler. Squares of figures must not overflow.
inline constexpr double figure_max = 1e100;
[[noreturn]] void refuse_value(double value);
[[noreturn]] void refuse_time(VirtualTime time, VirtualTime last);
[[noreturn]] void refuse_bounds(double low, double high);
inline void check_value(double value) {
    if (!(std::abs(value) <= figure_max)) [[unlikely]]
        refuse_value(value);
}

// Mean and sum of squares about it, each value with its weight (West: "Updating mean and variance
// estimates: an improved method", 1979).
struct Moments {
    double weight = 0;
    double mean = 0;
    double squares = 0;
    double least = 0;  // means nothing where the weight is 0, like the next
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

// The buckets of quantiles: an octave of values has 64 of equal ratio, at level 0. A key is 0 for zero,
// above 0 for positive values and the negative of that for negative ones, so that keys are in the order
// of values. A level has half as many as the one before: two neighbours are one.
struct Buckets {
    static constexpr std::int32_t an_octave = 64;
    static constexpr std::int32_t of_one = 1 << 17;  // above all exponents: no key changes its sign
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
    // What a key stands for: off by at most error_of(level), as a share of the value.
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

// How often there were values of each bucket. Where more buckets are needed than there are, all become
// wider by one level: the sketch of Masson, Rim and Lee ("DDSketch", 2019), collapsed evenly as by
// Epicoco et al. ("UDDSketch", 2020), but kept as a list, in which empty buckets take no place.
template <std::uint32_t buckets_max>
class Sketch {
    static_assert(buckets_max >= 16, "one level has up to 13 buckets however wide they are");

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

    std::array<std::int32_t, buckets_max> keys_{};     // ascending, the first used_
    std::array<std::uint32_t, buckets_max> counts_{};  // of each key
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

// What an engine reads of a figure when the run is over.
struct FigureView {
    FigureKind kind = FigureKind::tally;
    std::uint64_t count = 0;
    Moments moments{};
    std::span<const std::int32_t> keys{};     // of a sketch
    std::span<const std::uint32_t> counts{};  // of its buckets
    unsigned level = 0;                       // of it
    std::span<const std::uint64_t> bins{};    // of a histogram
    double low = 0, high = 0;                 // of it
};

}  // namespace detail

// Single values, each recorded when it is known: waiting times, lengths, 0 and 1 for no and yes. Quantiles
// by that many buckets; with 0 there are none, and a tally takes 48 bytes.
template <std::uint32_t buckets>
class BasicTally {
  public:
    // Adds a value. Requires: it is a number from -1e100 to 1e100; a breach is a ModelError.
    void record(VirtualTime now, double value) {
        detail::check_value(value);
        if (now < detail::measured_from) return;
        moments_.add(value, 1);
        ++count_;
        sketch_.add(value);
    }

    // How many values there were.
    std::uint64_t count() const noexcept { return count_; }
    // Their mean; 0 without values, like the next ones.
    double mean() const noexcept { return moments_.mean; }
    // Their variance, as that of a sample: the sum of squares about the mean by count() - 1.
    double variance() const noexcept { return moments_.variance(); }
    // The smallest one.
    double least() const noexcept { return moments_.least; }
    // The largest one.
    double most() const noexcept { return moments_.most; }

    // For the engine: what it merges over LPs.
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
// A tally with quantiles, which are off by at most 0.5 % of the value while the values span two octaves, and by
// twice as much each time that they span as much again. It takes 1 KiB.
using Tally = BasicTally<128>;

// A level that holds until it changes: the length of a queue, machines at work. From time 0, or --warm-up,
// to the end of the run.
class TimeAverage {
  public:
    // At level 0.
    TimeAverage() = default;
    // At that level from the beginning.
    explicit TimeAverage(double level) : level_(level) {}

    // The level is this from now on. Requires: times that do not go back, and a level from -1e100 to 1e100; a
    // breach is a ModelError.
    void set(VirtualTime now, double level) {
        detail::check_value(level);
        if (!(now >= since_)) [[unlikely]]
            detail::refuse_time(now, since_);
        account(now);
        count_ += now >= detail::measured_from;
        level_ = level;
    }
    // The level changes by so much.
    void add(VirtualTime now, double change) { set(now, level_ + change); }

    // What it is now.
    double level() const noexcept { return level_; }
    // Its mean over time until now; 0 if no time has passed.
    double mean(VirtualTime now) const noexcept { return until(now).moments_.mean; }

    // For the engine: what it merges over LPs.
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
    std::uint64_t count_ = 0;  // of changes
    detail::Moments moments_;  // up to since_
};

// How many values fell into each of so many bins of equal width in [low, high), and how many below and
// above.
template <std::uint32_t bins>
class Histogram {
    static_assert(bins > 0, "a histogram has bins");

  public:
    // Requires: low < high, both finite; a breach is a ModelError. For all LPs the same.
    Histogram(double low, double high) : low_(low), high_(high) {
        if (!(low < high && high - low <= detail::figure_max)) detail::refuse_bounds(low, high);
    }

    // Adds a value. Requires: it is a number from -1e100 to 1e100; a breach is a ModelError.
    void record(VirtualTime now, double value) {
        detail::check_value(value);
        if (now < detail::measured_from) return;
        moments_.add(value, 1);
        ++count_;
        ++bins_[bin_of(value)];
    }

    // How many values there were, inside and outside.
    std::uint64_t count() const noexcept { return count_; }
    // Their mean; 0 without values.
    double mean() const noexcept { return moments_.mean; }
    // How many were below, in each bin, and above: bins + 2 numbers.
    std::span<const std::uint64_t> counts() const noexcept { return bins_; }

    // For the engine: what it merges over LPs.
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

// How often something happens.
class Count {
  public:
    // It has happened, once or so often.
    void add(VirtualTime now, std::uint64_t times = 1) noexcept {
        if (now >= detail::measured_from) count_ += times;
    }
    // How often, so far.
    std::uint64_t count() const noexcept { return count_; }

    // For the engine, which makes one value of each LP's.
    detail::FigureView view(VirtualTime) const noexcept {
        detail::Moments moments;
        moments.add(static_cast<double>(count_), 1);
        return {.kind = FigureKind::count, .count = count_, .moments = moments};
    }

  private:
    std::uint64_t count_ = 0;
};

}  // namespace nw
