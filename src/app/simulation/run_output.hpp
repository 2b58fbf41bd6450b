// SPDX-License-Identifier: Apache-2.0
// The destination of this rank's committed rows. With one rank, the rows go to the tables. With
// several ranks, they go to this rank's own spool, and the first rank merges all spools into one
// set of tables.
//
// Thread: one thread at a time, while no worker runs. Only the result of writer() is shared by the
// workers.
#pragma once

#include <memory>
#include <optional>

#include "net/rank_group.hpp"
#include "plan/run_plan.hpp"
#include "results/output/csv_tables.hpp"
#include "results/output/output_writer.hpp"
#include "results/output/row_spool.hpp"

namespace nw {

class RunOutput {
  public:
    // Throws SetupError if a file cannot be made, or differs from the file that the saved run has
    // left.
    RunOutput(const RunPlan& plan, RankGroup& ranks);

    OutputWriter& writer() noexcept { return writer_; }

    // Collective. Implements SyncOutput (engine/engine_run.hpp).
    OutputPosition sync();
    // On a restart: removes from the tables all rows after the position of the checkpoint.
    void begin();
    // Collective, at the end of the run. Ensures: all rows are in the tables, followed by the first
    // rank's `last`, and the tables are on the disk.
    void finish(const std::vector<OutputRow>& last);
    // The kinds of the tables' columns. Empty if this rank has no tables, as on all ranks except
    // the first.
    ColumnKinds column_kinds() const;

  private:
    // Writes to the tables all rows that writer() has received.
    void collect();

    RankGroup& ranks_;
    std::optional<RowSpool> spool_;      // none: rows go directly to the tables
    std::unique_ptr<CsvTables> tables_;  // null: on another rank, or there is no output
    OutputWriter writer_;
};

}  // namespace nw
