// The figures of several LPs as one figure: a sum that does not depend on the order in which LPs, workers and
// ranks are added, since nothing is rounded before the end (base/exact_sum.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/measures.hpp>

#include "base/exact_sum.hpp"

namespace nw {

// What is said of a measure. Quantiles: of a tally with buckets only.
struct MeasureFigures {
    struct Quantile {
        double share = 0;
        double value = 0;
    };

    static constexpr double shares[] = {0.5, 0.9, 0.95, 0.99};
    static constexpr double missing = std::numeric_limits<double>::quiet_NaN();

    FigureKind kind = FigureKind::tally;
    std::uint64_t lps = 0;
    std::uint64_t count = 0;
    double mean = 0;  // of values, of the time, or, for a count, of LPs
    double deviation = 0;
    double least = 0;
    double most = 0;
    std::vector<Quantile> quantiles;
    double quantile_error = 0;  // at most, as a share of a quantile
    double low = 0, high = 0;   // of a histogram
    std::vector<std::uint64_t> bins;
};
// "p50", "p95".
std::string name_of(const MeasureFigures::Quantile& quantile);

// Of one measure.
class MeasureSum {
  public:
    // One LP's. Throws ModelError where LPs have figures that cannot be one.
    void add(const std::string& name, const detail::FigureView& view);
    MeasureSum& operator+=(const MeasureSum& other);

    MeasureFigures figures() const;
    // Of what came after `earlier`, which is of the same LPs: without extremes, which are of all; of a count,
    // without deviation.
    MeasureFigures figures_since(const MeasureSum& earlier) const;

    std::uint64_t lps() const noexcept { return lps_; }

    // As bytes, for another rank.
    template <class Part>
    static void pack(Part& part, auto& sum) {
        part(sum.kind_), part(sum.lps_), part(sum.count_);
        part(sum.weight_), part(sum.first_), part(sum.second_);
        part(sum.least_), part(sum.most_);
        part(sum.level_), part(sum.lowest_key_), part(sum.buckets_);
        part(sum.low_), part(sum.high_), part(sum.bins_);
    }

  private:
    void widen(unsigned level);
    std::uint64_t& bucket(std::int32_t key);
    void add_bucket(std::int32_t key, unsigned level, std::uint64_t count);
    double quantile(double share) const;

    FigureKind kind_ = FigureKind::tally;
    std::uint64_t lps_ = 0;
    std::uint64_t count_ = 0;
    ExactSum weight_;
    ExactSum first_;                                          // of weight * value
    ExactSum second_;                                         // of weight * value²
    double least_ = std::numeric_limits<double>::infinity();  // such where there was no weight
    double most_ = -std::numeric_limits<double>::infinity();
    std::uint32_t level_ = 0;
    std::int32_t lowest_key_ = 0;
    std::vector<std::uint64_t> buckets_;  // of lowest_key_ and the keys that follow it
    double low_ = 0, high_ = 0;
    std::vector<std::uint64_t> bins_;
};

std::string_view word_for(FigureKind kind) noexcept;

}  // namespace nw
