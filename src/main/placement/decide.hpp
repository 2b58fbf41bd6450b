// `placement decide FILE`: what the engine would decide in cases that a file describes, so that its
// decisions can be looked at and compared without a machine of that kind.
//
//     {"asymsched": [{"name": "…", "machine": …, "clusters": [{"nodes": [0, 3], "gigabytes": [1, 1],
//                     "remote_accesses": 1e9}], "elapsed_s": 100, "migrated_s": 0}],
//      "bwap": [{"machine": …, "workers": [0, 1], "dwp": 0.5}]}
//
// A machine is an object with "bw", or the name of one in machines.json beside the file.
#pragma once

#include <string>

namespace nw {

// The cases, each with its answer: a "decision", or the "percent" of the pages on each node.
// Throws SetupError of one line.
std::string decide_cases(const std::string& file);

}  // namespace nw
