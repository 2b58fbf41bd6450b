// SPDX-License-Identifier: Apache-2.0
// --trace: writes the tracks of all ranks to one file in the trace event format, which Perfetto
// (ui.perfetto.dev) and chrome://tracing open. These viewers show ranks as processes and workers as
// threads. GVT, the rate and efficiency of events, moved pages and the share of remote pages are
// counters.
#pragma once

#include "api/lp_kinds.hpp"
#include "app/report/output_files.hpp"
#include "net/rank_group.hpp"
#include "results/statistics/run_result.hpp"

namespace nw {

// Collective, after the run. The first rank receives the parts of the other ranks one after the
// other, and appends them to the file. `file` is used on the first rank only. Throws MachineError.
void write_trace(RankGroup& ranks, WholeFile* file, const RunResult& result, const LpKinds& kinds);

}  // namespace nw
