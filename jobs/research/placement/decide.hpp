// SPDX-License-Identifier: Apache-2.0
// `placement decide FILE`: computes the engine's decisions for cases that a file describes. So
// these decisions can be examined and compared without the described machines.
//
//     {"asymsched": [{"name": "…", "machine": …,
//                     "clusters": [{"nodes": [0, 3], "gigabytes": [1, 1],
//                                   "remote_accesses": 1e9}],
//                     "elapsed_s": 100, "migrated_s": 0}],
//      "bwap": [{"machine": …, "workers": [0, 1], "dwp": 0.5}]}
//
// A machine is an object with "bw", or the name of a machine in machines.json in the same folder.
#pragma once

#include <string>

namespace nw {

// Returns the cases, each with its answer: a "decision", or the "percent" of the pages on each
// node. Throws SetupError with a message of one line.
std::string decide_cases(const std::string& file);

}  // namespace nw
