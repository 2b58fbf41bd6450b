// --trace: the tracks of all ranks as one file in the trace event format, which Perfetto
// (ui.perfetto.dev) and chrome://tracing open. Ranks are processes there and workers threads; GVT and
// what is remote are counters.
#pragma once

#include "lp/lp_kinds.hpp"
#include "net/rank_group.hpp"
#include "results/output_files.hpp"
#include "stats/run_result.hpp"

namespace nw {

// Collective, after the run: each rank's part goes to the first, one after the other, which appends it.
// `file` is used on the first rank only. Throws MachineError.
void write_trace(RankGroup& ranks, WholeFile* file, const RunResult& result, const LpKinds& kinds);

}  // namespace nw
