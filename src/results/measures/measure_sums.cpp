// SPDX-License-Identifier: Apache-2.0
#include "results/measures/measure_sums.hpp"

#include <algorithm>
#include <iterator>

#include "util/check.hpp"
#include "util/packing.hpp"

namespace nw {

void MeasureSums::sample_before_end(const LogicalProcess& lp, std::uint32_t seen, VirtualTime end) {
    has_sampled_before_end_ = false;
    if (!has_intervals()) return;
    const std::uint32_t ended = intervals_.times().ended_before(end);
    if (seen >= ended) return;
    intervals_.sample(lp, seen, ended);
    has_sampled_before_end_ = true;
}

void MeasureSums::sample(const LogicalProcess& lp, VirtualTime end) {
    for (std::size_t i = 0; i < views_.size(); ++i)
        views_[i].first = (*measures_)[i].sample(lp, end, views_[i].second);
}

void MeasureSums::add_sampled() {
    if (has_sampled_before_end_) intervals_.add(intervals_.last_sample());
    for (std::size_t i = 0; i < views_.size(); ++i)
        if (views_[i].first) sums_[i].add(name(i), views_[i].second);
}

void MeasureSums::gather(RankGroup& ranks, VirtualTime end) {
    end_ = end;
    if (ranks.ranks() > 1 && !ranks.is_first()) {
        Packer part;
        for (const MeasureSum& sum : sums_) MeasureSum::pack(part, sum);
        IntervalSums::pack(part, intervals_);
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
        IntervalSums theirs;
        IntervalSums::pack(part, theirs);
        intervals_ += theirs;
    }
    if (has_intervals()) check_intervals();
}

// Checks that each interval's sums contain every LP once.
void MeasureSums::check_intervals() const {
    const std::uint32_t ended = intervals_.times().ended_before(end_);
    NW_CHECK(ended <= intervals_.count());
    for (std::uint32_t i = 0; i < ended; ++i)
        for (std::size_t m = 0; m < sums_.size(); ++m)
            NW_CHECK(intervals_.at_end(i, m).lps() == sums_[m].lps());
}

std::vector<MeasureInterval> MeasureSums::intervals_of(std::size_t measure) const {
    const MeasureTimes& times = intervals_.times();
    std::vector<MeasureInterval> intervals;
    const MeasureSum nothing;
    const MeasureSum* before = &nothing;
    VirtualTime from = times.from;
    const auto add = [&](VirtualTime to, const MeasureSum& sum) {
        intervals.push_back({from, to, sum.figures_since(*before)});
        from = to;
        before = &sum;
    };
    for (std::uint32_t i = 0; i < times.ended_before(end_); ++i)
        add(times.end_of(i), intervals_.at_end(i, measure));
    if (from < end_) add(end_, sums_[measure]);
    return intervals;
}

// --- Tables ------------------------------------------------------------------------------------

namespace {

constexpr double missing = MeasureFigures::missing;

void add_quantile_columns(OutputTable& table) {
    for (const double share : MeasureFigures::shares) table.columns.push_back(name_of({share, 0}));
    table.columns.emplace_back("quantile_error");
}

void add_quantiles(std::vector<OutputValue>& values, const MeasureFigures& figures) {
    for (std::size_t q = 0; q < std::size(MeasureFigures::shares); ++q)
        values.emplace_back(figures.quantiles.empty() ? missing : figures.quantiles[q].value);
    values.emplace_back(figures.quantiles.empty() ? missing : figures.quantile_error);
}

OutputRow row_of(const std::vector<OutputTable>& tables, std::size_t table,
                 const std::vector<OutputValue>& values) {
    OutputRow row{.key = {}, .table = static_cast<std::uint32_t>(table), .values = {}};
    row.values.resize(encoded_row_bytes(tables[table], values));
    encode_row(values, row.values.data());
    return row;
}

}  // namespace

void add_measure_tables(std::vector<OutputTable>& tables, bool has_intervals) {
    OutputTable& whole = tables.emplace_back(OutputTable{
        "measures", {"measure", "kind", "lps", "count", "mean", "deviation", "min", "max"}, true});
    add_quantile_columns(whole);
    if (!has_intervals) return;
    OutputTable& intervals = tables.emplace_back(OutputTable{
        "measure_intervals", {"measure", "from", "to", "count", "mean", "deviation"}, true});
    add_quantile_columns(intervals);
}

std::vector<OutputRow> measure_rows(const MeasureSums& sums,
                                    const std::vector<OutputTable>& tables) {
    std::vector<OutputRow> rows;
    const std::size_t whole = tables.size() - (sums.has_intervals() ? 2 : 1);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::string_view name = sums.name(i);
        const MeasureFigures figures = sums.figures(i);
        std::vector<OutputValue> values{
            name,         word_for(figures.kind), figures.lps,   figures.count,
            figures.mean, figures.deviation,      figures.least, figures.most};
        add_quantiles(values, figures);
        rows.push_back(row_of(tables, whole, values));
        if (!sums.has_intervals()) continue;
        for (const auto& [from, to, of] : sums.intervals_of(i)) {
            values = {name, from, to, of.count, of.mean, of.deviation};
            add_quantiles(values, of);
            rows.push_back(row_of(tables, whole + 1, values));
        }
    }
    return rows;
}

}  // namespace nw
