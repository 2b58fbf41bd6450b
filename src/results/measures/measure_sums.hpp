// SPDX-License-Identifier: Apache-2.0
// The figures of all LPs, combined into the figures of the run and of its intervals.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <numawarp/measures.hpp>

#include "net/rank_group.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/measures/measure_sum.hpp"
#include "results/output/output_row.hpp"

namespace nw {

// The figures of a measure in one interval.
struct MeasureInterval {
    VirtualTime from = 0, to = 0;
    MeasureFigures figures;
};

// The measures of a run, in the order of Setup::measures.
class MeasureSums {
  public:
    MeasureSums() = default;
    // Requires: `measures` outlives this object.
    MeasureSums(const std::vector<Measure>& measures, const MeasureTimes& times)
        : measures_(&measures),
          sums_(measures.size()),
          views_(measures.size()),
          intervals_(measures, times) {}

    // The sums at the ends of intervals.
    IntervalSums& intervals() noexcept { return intervals_; }

    // Both functions read the figures of an LP, and do not add the figures to the sums. They call
    // code of the model in the LP's heap. sample_before_end() is called before on_end(). `seen` is
    // the number of intervals for which the LP's figures have been read. sample_before_end() reads
    // the figures for the other intervals that have ended. sample() is called after on_end().
    void sample_before_end(const LogicalProcess& lp, std::uint32_t seen, VirtualTime end);
    void sample(const LogicalProcess& lp, VirtualTime end);
    // Adds the figures that were read last to the sums. Throws ModelError.
    void add_sampled();

    // Collective, when the run has ended at `end`. Afterwards, the first rank has the sums over all
    // ranks.
    void gather(RankGroup& ranks, VirtualTime end);

    std::size_t size() const noexcept { return sums_.size(); }
    const std::string& name(std::size_t measure) const { return (*measures_)[measure].name; }
    MeasureFigures figures(std::size_t measure) const { return sums_[measure].figures(); }
    bool has_intervals() const noexcept { return intervals_.times().on(); }
    // Requires: called on the first rank, after gather().
    std::vector<MeasureInterval> intervals_of(std::size_t measure) const;

  private:
    void check_intervals() const;

    const std::vector<Measure>* measures_ = nullptr;
    std::vector<MeasureSum> sums_;
    std::vector<std::pair<bool, detail::FigureView>> views_;  // of the LP that was read last
    bool has_sampled_before_end_ = false;                     // for that LP
    IntervalSums intervals_;
    VirtualTime end_ = 0;
};

// Appends the tables of measures for --output: the table of the whole run and, if there are
// intervals, the table of the intervals.
void add_measure_tables(std::vector<OutputTable>& tables, bool has_intervals);
// The rows of these tables.
std::vector<OutputRow> measure_rows(const MeasureSums& sums,
                                    const std::vector<OutputTable>& tables);

}  // namespace nw
