// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nw {

struct EngineRun;

// Executes the run in the order of events, in one worker thread. Requires: one rank.
void run_sequential(EngineRun& run);

}  // namespace nw
