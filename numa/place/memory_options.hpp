// SPDX-License-Identifier: Apache-2.0
// The user's options for memory and placement; part of the engine's configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace nw {

class Os;
class PlacementPolicy;
struct PolicyInputs;

// numa: segments from the fixed region, placed by first touch. libc: segments from glibc's malloc,
// without placement (the baseline of "NUMA Time Warp", PADS 2015).
enum class MemoryMode : std::uint8_t { numa, libc };

// A value of --place: a placement policy, and the facts about it that other code needs.
// placement_policy.hpp lists all values.
struct PlacementChoice {
    std::string_view word;
    std::string_view help;
    // Throws SetupError if the machine file is not valid.
    std::unique_ptr<PlacementPolicy> (*make)(Os& os, const PolicyInputs& inputs);
    bool is_strict = false;        // a worker takes new pages from its own node only
    bool spreads_pages = false;    // over nodes, now or later
    bool reads_machine = false;    // the bandwidths between nodes: --machine has an effect
    bool reads_proximity = false;  // --proximity has an effect
    bool one_rank_only = false;
    // The policy moves workers to other CPUs. The policy of one rank then makes the decisions for
    // all ranks on the same CPUs.
    bool moves_workers = false;
};
extern const PlacementChoice local_placement;  // the default

enum class HugePages : std::uint8_t { automatic, on, off };

// The page-migration daemon. automatic: one thread and a period of one second if workers run on
// more than one node, otherwise no thread.
struct PagemigdOptions {
    bool automatic = true;
    std::uint32_t threads = 1;  // 0: off
    double period_seconds = 1;  // between two wake-ups, > 0
};

}  // namespace nw
