#include "stats/measure_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "base/packing.hpp"

namespace nw {
namespace {

using detail::Buckets;

constexpr double shares[] = {0.5, 0.9, 0.95, 0.99};
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void detail::refuse_value(double value) {
    throw ModelError(fmt::format("a figure of merit was told {}; legal: a finite number within {}",
                                 value, figure_max));
}

std::string_view word_for(FigureKind kind) noexcept {
    constexpr std::string_view words[] = {"tally", "time average", "histogram", "count"};
    return words[static_cast<std::size_t>(kind)];
}

std::string name_of(const MeasureFigures::Quantile& quantile) {
    return fmt::format("p{}", std::lround(quantile.share * 100));
}

// --- One measure ----------------------------------------------------------------------------------

void MeasureSum::add(const std::string& name, const detail::FigureView& view) {
    const bool fits = lps_ == 0 || (kind_ == view.kind && bins_.size() == view.bins.size() &&
                                    low_ == view.low && high_ == view.high);
    if (!fits || (view.kind == FigureKind::histogram && !(view.low < view.high)))
        throw ModelError(fmt::format(
            "measure {}: {}", name,
            fits ? fmt::format("a histogram from {} to {}; legal: to more than from", view.low,
                               view.high)
                 : "LPs have figures of different kinds, or histograms of different bins; legal: "
                   "the same in all LPs"));
    MeasureSum one;
    one.kind_ = view.kind;
    one.lps_ = 1;
    one.count_ = view.count;
    one.low_ = view.low;
    one.high_ = view.high;
    one.bins_.assign(view.bins.begin(), view.bins.end());
    const detail::Moments& moments = view.moments;
    if (moments.weight > 0) {
        one.least_ = moments.least;
        one.most_ = moments.most;
        const double sum = moments.weight * moments.mean;
        const double rest = std::fma(moments.weight, moments.mean, -sum);
        one.weight_.add(moments.weight);
        one.first_.add(sum);
        one.first_.add(rest);
        one.second_.add(moments.squares);
        one.second_.add_product(sum, moments.mean);
        one.second_.add_product(rest, moments.mean);
    }
    one.level_ = view.level;
    for (std::size_t i = 0; i < view.keys.size(); ++i) one.bucket(view.keys[i]) = view.counts[i];
    *this += one;
}

MeasureSum& MeasureSum::operator+=(const MeasureSum& other) {
    if (other.lps_ == 0) return *this;
    if (lps_ == 0) return *this = other;
    const bool had_weight = weight_.value() > 0;
    if (other.weight_.value() > 0) {
        least_ = had_weight ? std::min(least_, other.least_) : other.least_;
        most_ = had_weight ? std::max(most_, other.most_) : other.most_;
    }
    lps_ += other.lps_;
    count_ += other.count_;
    weight_ += other.weight_;
    first_ += other.first_;
    second_ += other.second_;
    widen(other.level_);
    for (std::size_t i = 0; i < other.buckets_.size(); ++i) {
        const auto key = other.lowest_key_ + static_cast<std::int32_t>(i);
        if (other.buckets_[i] > 0)
            bucket(Buckets::at_level(key, level_ - other.level_)) += other.buckets_[i];
    }
    for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
    return *this;
}

void MeasureSum::widen(unsigned level) {
    if (level <= level_) return;
    const std::vector<std::uint64_t> finer = std::exchange(buckets_, {});
    const std::int32_t lowest = lowest_key_;
    for (std::size_t i = 0; i < finer.size(); ++i) {
        const auto key = lowest + static_cast<std::int32_t>(i);
        if (finer[i] > 0) bucket(Buckets::at_level(key, level - level_)) += finer[i];
    }
    level_ = level;
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
    // The value of that rank: as many are below it, or equal.
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
    figures.mean = weight > 0 ? first_.value() / weight : missing;
    figures.least = weight > 0 ? least_ : missing;
    figures.most = weight > 0 ? most_ : missing;
    // Sum of squares about m: S2 - 2 m S1 + m² S0, without rounding but of S1 and S0 to 106 bits.
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
    figures.deviation = freedom > 0 ? std::sqrt(std::max(about.value(), 0.0) / freedom) : missing;
    if (!buckets_.empty()) {
        for (const double share : shares) figures.quantiles.push_back({share, quantile(share)});
        figures.quantile_error = Buckets::error_of(level_);
    }
    return figures;
}

// --- All of a run ---------------------------------------------------------------------------------

void MeasureSums::look(const LogicalProcess& lp, VirtualTime end) {
    for (std::size_t i = 0; i < views_.size(); ++i)
        views_[i].first = (*measures_)[i].look(lp, end, views_[i].second);
}

void MeasureSums::add_looked() {
    for (std::size_t i = 0; i < views_.size(); ++i)
        if (views_[i].first) sums_[i].add(name(i), views_[i].second);
}

void MeasureSums::gather(RankGroup& ranks) {
    if (sums_.empty() || ranks.ranks() == 1) return;
    if (!ranks.is_first()) {
        Packer part;
        for (const MeasureSum& sum : sums_) MeasureSum::pack(part, sum);
        ranks.send(RankId{0}, part.take());
        return;
    }
    for (std::uint32_t r = 1; r < ranks.ranks(); ++r) {
        const std::string bytes = ranks.receive(RankId{r});
        Unpacker part(bytes);
        for (MeasureSum& sum : sums_) {
            MeasureSum theirs;
            MeasureSum::pack(part, theirs);
            sum += theirs;
        }
    }
}

OutputTable measures_table() {
    OutputTable table{"measures",
                      {"measure", "kind", "lps", "count", "mean", "deviation", "min", "max"}};
    for (const double share : shares) table.columns.push_back(name_of({share, 0}));
    table.columns.push_back("quantile_error");
    return table;
}

std::vector<OutputRow> measure_rows(const MeasureSums& sums,
                                    const std::vector<OutputTable>& tables) {
    std::vector<OutputRow> rows;
    const auto table = static_cast<std::uint32_t>(tables.size() - 1);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const MeasureFigures figures = sums.figures(i);
        std::vector<OutputValue> values{std::string_view(sums.name(i)),
                                        word_for(figures.kind),
                                        figures.lps,
                                        figures.count,
                                        figures.mean,
                                        figures.deviation,
                                        figures.least,
                                        figures.most};
        for (std::size_t q = 0; q < std::size(shares); ++q)
            values.emplace_back(figures.quantiles.empty() ? missing : figures.quantiles[q].value);
        values.emplace_back(figures.quantiles.empty() ? missing : figures.quantile_error);
        OutputRow row{.key = {}, .table = table, .values = {}};
        row.values.resize(encoded_row_bytes(tables, table, values));
        encode_row(values, row.values.data());
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace nw
