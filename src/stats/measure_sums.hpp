// The figures of all LPs as the figures of a run: sums that do not depend on the order in which LPs, workers
// and ranks are added, since nothing is rounded before the end (base/exact_sum.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <numawarp/measures.hpp>

#include "base/exact_sum.hpp"
#include "net/rank_group.hpp"
#include "output/output_row.hpp"

namespace nw {

// What is said of a measure. Quantiles: of a tally with buckets only.
struct MeasureFigures {
    struct Quantile {
        double share = 0;
        double value = 0;
    };

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
    double quantile(double share) const;

    FigureKind kind_ = FigureKind::tally;
    std::uint64_t lps_ = 0;
    std::uint64_t count_ = 0;
    ExactSum weight_;
    ExactSum first_;               // of weight * value
    ExactSum second_;              // of weight * value²
    double least_ = 0, most_ = 0;  // mean nothing where there was no weight
    std::uint32_t level_ = 0;
    std::int32_t lowest_key_ = 0;
    std::vector<std::uint64_t> buckets_;  // of lowest_key_ and the keys that follow it
    double low_ = 0, high_ = 0;
    std::vector<std::uint64_t> bins_;
};

// Of a run, in the order of Setup::measures.
class MeasureSums {
  public:
    MeasureSums() = default;
    // `measures` outlive this.
    explicit MeasureSums(const std::vector<Measure>& measures)
        : measures_(&measures), sums_(measures.size()), views_(measures.size()) {}

    // Looks at the figures of an LP: the model's code, in its LP's heap. Adds nothing yet, and allocates
    // nothing.
    void look(const LogicalProcess& lp, VirtualTime end);
    // Adds what was looked at last. Throws ModelError.
    void add_looked();

    // Collective: the first rank has those of all.
    void gather(RankGroup& ranks);

    std::size_t size() const noexcept { return sums_.size(); }
    const std::string& name(std::size_t measure) const { return (*measures_)[measure].name; }
    MeasureFigures figures(std::size_t measure) const { return sums_[measure].figures(); }

  private:
    const std::vector<Measure>* measures_ = nullptr;
    std::vector<MeasureSum> sums_;
    std::vector<std::pair<bool, detail::FigureView>> views_;  // of the LP that was looked at last
};

// The table of measures in --output; its rows.
OutputTable measures_table();
std::vector<OutputRow> measure_rows(const MeasureSums& sums,
                                    const std::vector<OutputTable>& tables);

std::string_view word_for(FigureKind kind) noexcept;

}  // namespace nw
