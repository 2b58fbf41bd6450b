// SPDX-License-Identifier: Apache-2.0
#include "results/measures/measure_sum.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <numawarp/model.hpp>

namespace nw {

using detail::Buckets;

std::string_view word_for(FigureKind kind) noexcept {
    constexpr std::string_view words[] = {"tally", "time average", "histogram", "count"};
    return words[static_cast<std::size_t>(kind)];
}

std::string name_of(const MeasureFigures::Quantile& quantile) {
    return fmt::format("p{}", std::lround(quantile.share * 100));
}

void MeasureSum::add(const std::string& name, const detail::FigureView& view) {
    const bool fits = lps_ == 0 || (kind_ == view.kind && bins_.size() == view.bins.size() &&
                                    low_ == view.low && high_ == view.high);
    if (!fits)
        throw ModelError(
            fmt::format("measure {}: LPs have different kinds of figures, or histograms with "
                        "different bins; allowed: the same kind and bins in all LPs",
                        name));
    if (lps_ == 0) {
        kind_ = view.kind;
        low_ = view.low;
        high_ = view.high;
        bins_.resize(view.bins.size());
    }
    ++lps_;
    count_ += view.count;
    const detail::Moments& moments = view.moments;
    if (moments.weight > 0) {
        least_ = std::min(least_, moments.least);
        most_ = std::max(most_, moments.most);
        const double sum = moments.weight * moments.mean;
        const double rest = std::fma(moments.weight, moments.mean, -sum);
        weight_.add(moments.weight);
        first_.add(sum);
        first_.add(rest);
        second_.add(moments.squares);
        second_.add_product(sum, moments.mean);
        second_.add_product(rest, moments.mean);
    }
    widen(view.level);
    for (std::size_t i = 0; i < view.keys.size(); ++i)
        add_bucket(view.keys[i], view.level, view.counts[i]);
    for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i] += view.bins[i];
}

MeasureSum& MeasureSum::operator+=(const MeasureSum& other) {
    if (other.lps_ == 0) return *this;
    if (lps_ == 0) return *this = other;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
    lps_ += other.lps_;
    count_ += other.count_;
    weight_ += other.weight_;
    first_ += other.first_;
    second_ += other.second_;
    widen(other.level_);
    for (std::size_t i = 0; i < other.buckets_.size(); ++i)
        add_bucket(other.lowest_key_ + static_cast<std::int32_t>(i), other.level_,
                   other.buckets_[i]);
    for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
    return *this;
}

void MeasureSum::widen(unsigned level) {
    if (level <= level_) return;
    const std::vector<std::uint64_t> finer = std::exchange(buckets_, {});
    const std::int32_t lowest = lowest_key_;
    const unsigned finer_level = std::exchange(level_, level);
    for (std::size_t i = 0; i < finer.size(); ++i)
        add_bucket(lowest + static_cast<std::int32_t>(i), finer_level, finer[i]);
}

// Requires: level ≤ level_.
void MeasureSum::add_bucket(std::int32_t key, unsigned level, std::uint64_t count) {
    if (count > 0) bucket(Buckets::at_level(key, level_ - level)) += count;
}

std::uint64_t& MeasureSum::bucket(std::int32_t key) {
    if (buckets_.empty()) lowest_key_ = key;
    if (key < lowest_key_) {
        buckets_.insert(buckets_.begin(), static_cast<std::size_t>(lowest_key_ - key), 0);
        lowest_key_ = key;
    }
    const auto at = static_cast<std::size_t>(key - lowest_key_);
    if (at >= buckets_.size()) buckets_.resize(at + 1);
    return buckets_[at];
}

double MeasureSum::quantile(double share) const {
    // The values have positions from 0 to count_ - 1 in ascending order. The quantile is the value
    // at this position.
    const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(count_ - 1));
    std::uint64_t seen = 0;
    std::size_t at = 0;
    while (at < buckets_.size() && (seen += buckets_[at]) <= rank) ++at;
    const auto key = lowest_key_ + static_cast<std::int32_t>(at);
    return std::clamp(Buckets::value_of(key, level_), least_, most_);
}

MeasureFigures MeasureSum::figures() const {
    MeasureFigures figures;
    figures.kind = kind_;
    figures.lps = lps_;
    figures.count = count_;
    figures.low = low_;
    figures.high = high_;
    figures.bins = bins_;
    const double weight = weight_.value();
    figures.mean = weight > 0 ? first_.value() / weight : MeasureFigures::missing;
    figures.least = weight > 0 ? least_ : MeasureFigures::missing;
    figures.most = weight > 0 ? most_ : MeasureFigures::missing;
    // The sum of squares about m is S2 - 2 m S1 + m² S0. Only S1 and S0 are rounded, to 106 bits.
    const double m = figures.mean;
    ExactSum about = second_;
    const auto subtract = [&about](double a, double b) { about.add_product(-a, b); };
    ExactSum first_rest = first_, weight_rest = weight_;
    first_rest.add(-first_.value());
    weight_rest.add(-weight);
    if (weight > 0) {
        subtract(2 * m, first_.value());
        subtract(2 * m, first_rest.value());
        const double product = weight * m;
        about.add_product(product, m);
        about.add_product(std::fma(weight, m, -product), m);
        about.add_product(weight_rest.value() * m, m);
    }
    const double freedom = kind_ == FigureKind::time_average ? weight : weight - 1;
    figures.deviation =
        freedom > 0 ? std::sqrt(std::max(about.value(), 0.0) / freedom) : MeasureFigures::missing;
    if (!buckets_.empty()) {
        for (const double share : MeasureFigures::shares)
            figures.quantiles.push_back({share, quantile(share)});
        figures.quantile_error = Buckets::error_of(level_);
    }
    return figures;
}

MeasureFigures MeasureSum::figures_since(const MeasureSum& earlier) const {
    MeasureSum before = earlier;
    before.widen(level_);
    MeasureSum since = *this;
    since.count_ -= before.count_;
    since.weight_ -= before.weight_;
    since.first_ -= before.first_;
    since.second_ -= before.second_;
    for (std::size_t i = 0; i < before.buckets_.size(); ++i)
        since.bucket(before.lowest_key_ + static_cast<std::int32_t>(i)) -= before.buckets_[i];
    for (std::size_t i = 0; i < before.bins_.size(); ++i) since.bins_[i] -= before.bins_[i];
    if (since.count_ == 0) since.buckets_.clear();
    MeasureFigures figures = since.figures();
    figures.least = figures.most = MeasureFigures::missing;
    if (kind_ == FigureKind::count) {
        figures.mean = static_cast<double>(since.count_) / static_cast<double>(lps_);
        figures.deviation = MeasureFigures::missing;
    }
    return figures;
}

}  // namespace nw
