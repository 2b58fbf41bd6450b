// The figures of all LPs as the figures of a run, and at intervals of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <numawarp/measures.hpp>

#include "measures/interval_sums.hpp"
#include "measures/measure_sum.hpp"
#include "net/rank_group.hpp"
#include "output/output_row.hpp"

namespace nw {

// What a measure was in an interval.
struct MeasureInterval {
    VirtualTime from = 0, to = 0;
    MeasureFigures figures;
};

// Of a run, in the order of Setup::measures.
class MeasureSums {
  public:
    MeasureSums() = default;
    // `measures` outlive this.
    MeasureSums(const std::vector<Measure>& measures, const MeasureTimes& times)
        : measures_(&measures),
          sums_(measures.size()),
          views_(measures.size()),
          intervals_(measures, times) {}

    // What was seen of LPs when intervals ended, and before on_end().
    IntervalSums& intervals() noexcept { return intervals_; }

    // Looks at the figures of an LP that was looked at for `seen` intervals: the model's code, in its LP's heap.
    // The first before on_end(), the second after it. They add nothing yet.
    void look_before_end(const LogicalProcess& lp, std::uint32_t seen, VirtualTime end);
    void look(const LogicalProcess& lp, VirtualTime end);
    // Adds what was looked at last. Throws ModelError.
    void add_looked();

    // Collective, when the run is over at `end`: the first rank has those of all.
    void gather(RankGroup& ranks, VirtualTime end);

    std::size_t size() const noexcept { return sums_.size(); }
    const std::string& name(std::size_t measure) const { return (*measures_)[measure].name; }
    MeasureFigures figures(std::size_t measure) const { return sums_[measure].figures(); }
    bool has_intervals() const noexcept { return intervals_.times().on(); }
    // On the first rank, after gather().
    std::vector<MeasureInterval> intervals_of(std::size_t measure) const;

  private:
    void check_intervals() const;

    const std::vector<Measure>* measures_ = nullptr;
    std::vector<MeasureSum> sums_;
    std::vector<std::pair<bool, detail::FigureView>> views_;  // of the LP that was looked at last
    bool has_looked_before_end_ = false;                      // at that LP
    IntervalSums intervals_;
    VirtualTime end_ = 0;
};

// The tables of measures in --output, behind the model's: that of the whole run and, if there are any, that of
// intervals.
void add_measure_tables(std::vector<OutputTable>& tables, bool has_intervals);
// Their rows.
std::vector<OutputRow> measure_rows(const MeasureSums& sums,
                                    const std::vector<OutputTable>& tables);

}  // namespace nw
