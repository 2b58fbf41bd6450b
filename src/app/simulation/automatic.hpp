// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nw {

struct EngineRun;

// --engine auto: runs one engine after the other, in the order that trials determine
// (engine_trial.hpp).
void run_automatic(EngineRun& run);

}  // namespace nw
