// SPDX-License-Identifier: Apache-2.0
// Gathers the results of all ranks on the first rank: sums, maxima, and one row per worker.
#pragma once

#include "net/rank_group.hpp"
#include "results/statistics/run_result.hpp"

namespace nw {

// Collective, after the run. `result` contains this rank's part; on the first rank it becomes the
// result of all ranks. Figures that are equal on all ranks (end, reason, numbers of LPs and groups)
// and figures about one host (its table of nodes, the history of placement) remain those of the
// first rank.
void gather_results(RankGroup& ranks, RunResult& result);

}  // namespace nw
