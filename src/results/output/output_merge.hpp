// SPDX-License-Identifier: Apache-2.0
// Merges the spooled rows of all ranks, in the order of events, into the tables that a single rank
// would have written.
#pragma once

#include "net/rank_group.hpp"
#include "results/output/csv_tables.hpp"
#include "results/output/row_spool.hpp"

namespace nw {

// Collective, while no worker runs. `tables` is used on the first rank only. Empties the spools.
// Memory: about 64 KiB per rank on the first rank, and 64 KiB on the others. Throws MachineError.
void merge_output(RankGroup& ranks, RowSpool& own, CsvTables* tables);

}  // namespace nw
