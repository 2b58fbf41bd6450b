// Where the committed rows of this rank go: into the tables, or, where there are several ranks, into a
// spool of its own, out of which the first rank makes one set of tables.
//
// Thread: one at a time, while no worker runs; but for writer(), which the workers share.
#pragma once

#include <memory>
#include <optional>

#include "net/rank_group.hpp"
#include "output/csv_tables.hpp"
#include "output/output_writer.hpp"
#include "output/row_spool.hpp"
#include "plan/run_plan.hpp"

namespace nw {

class RunOutput {
  public:
    // Throws SetupError if a file cannot be made, or is not what the saved run has left.
    RunOutput(const RunPlan& plan, RankGroup& ranks);

    OutputWriter& writer() noexcept { return writer_; }

    // Collective, as SyncOutput has it (engine/engines.hpp).
    OutputPosition sync();
    // What stands in the tables behind the position that the run goes on from goes.
    void begin();
    // Collective, when the run is over: all rows are in the tables, at their ends the first rank's `last`, and
    // those on the disk.
    void finish(const std::vector<OutputRow>& last);
    // The kinds of the tables' columns; empty where there are no tables, as on all ranks but the first.
    ColumnKinds column_kinds() const;

  private:
    // All that was handed over goes to the tables.
    void collect();

    RankGroup& ranks_;
    std::optional<RowSpool> spool_;      // without one, rows go to the tables at once
    std::unique_ptr<CsvTables> tables_;  // null: another rank's, or there is no output
    OutputWriter writer_;
};

}  // namespace nw
