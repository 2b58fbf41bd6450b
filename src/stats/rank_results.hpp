// What the ranks know of a run, brought together on the first: sums, maxima, and a row a worker.
#pragma once

#include "net/rank_group.hpp"
#include "stats/run_result.hpp"

namespace nw {

// Collective, after the run. `result` holds this rank's part; on the first rank it becomes that of all.
// What is equal everywhere (end, reason, numbers of LPs and groups) is left as it is, and so is what
// belongs to one host (its table of nodes, the history of placement): the first rank's is shown.
void gather_results(RankGroup& ranks, RunResult& result);

}  // namespace nw
