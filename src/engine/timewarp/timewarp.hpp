// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nw {

struct EngineRun;

// Executes this rank's part of the run by Time Warp. Collective over the ranks.
void run_timewarp(EngineRun& run);

}  // namespace nw
