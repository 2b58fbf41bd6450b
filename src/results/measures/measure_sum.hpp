// SPDX-License-Identifier: Apache-2.0
// Combines the figures of several LPs into one figure. The result does not depend on the order in
// which LPs, workers and ranks are added, because sums are rounded only at the end
// (util/exact_sum.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/measures.hpp>

#include "util/exact_sum.hpp"

namespace nw {

// The figures of a measure. Only a tally with buckets has quantiles.
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
    double mean = 0;  // of the values; for a time average, over time; for a count, per LP
    double deviation = 0;
    double least = 0;
    double most = 0;
    std::vector<Quantile> quantiles;
    double quantile_error = 0;  // maximum relative error of the quantiles
    double low = 0, high = 0;   // of a histogram
    std::vector<std::uint64_t> bins;
};
// The name of a quantile: "p50", "p95".
std::string name_of(const MeasureFigures::Quantile& quantile);

// The sum of one measure's figures.
class MeasureSum {
  public:
    // Adds the figure of one LP. `name`: the measure's name, for messages. Throws ModelError if the
    // LPs' figures cannot be combined.
    void add(const std::string& name, const detail::FigureView& view);
    MeasureSum& operator+=(const MeasureSum& other);

    MeasureFigures figures() const;
    // The figures of the values that were added to the sum after it was equal to `earlier`, a sum
    // of the same LPs. The result has no minimum and no maximum, because they are known only for
    // the whole run. For a count, the result has no deviation.
    MeasureFigures figures_since(const MeasureSum& earlier) const;

    std::uint64_t lps() const noexcept { return lps_; }

    // Packs or unpacks the sum, for another rank.
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
    double least_ = std::numeric_limits<double>::infinity();  // infinite: no value yet
    double most_ = -std::numeric_limits<double>::infinity();
    std::uint32_t level_ = 0;
    std::int32_t lowest_key_ = 0;
    std::vector<std::uint64_t> buckets_;  // counts of the keys from lowest_key_ on
    double low_ = 0, high_ = 0;
    std::vector<std::uint64_t> bins_;
};

std::string_view word_for(FigureKind kind) noexcept;

}  // namespace nw
