// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nw {

struct EngineRun;

// Executes this rank's part of the run in windows of the lookahead. Collective over the ranks.
// Requires: a lookahead above 0.
void run_conservative(EngineRun& run);

}  // namespace nw
