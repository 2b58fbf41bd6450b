// One set of tables out of what the ranks have spooled: the rows of all ranks, in the order of events,
// as one rank would have written them.
#pragma once

#include "net/rank_group.hpp"
#include "output/csv_tables.hpp"
#include "output/row_spool.hpp"

namespace nw {

// Collective, while no worker runs. `tables` is used on the first rank only. The spools are empty
// afterwards. Memory: some 64 KiB a rank on the first, 64 KiB on the others. Throws MachineError.
void merge_output(RankGroup& ranks, RowSpool& own, CsvTables* tables);

}  // namespace nw
