// SPDX-License-Identifier: Apache-2.0
// The user's options for memory; part of the engine's configuration.
#pragma once

#include <cstdint>

namespace nw {

// numa: segments from the fixed region, placed by first touch. libc: segments from glibc's malloc,
// without placement (the baseline of "NUMA Time Warp", PADS 2015).
enum class MemoryMode : std::uint8_t { numa, libc };
// The placement policy (placement_policy.hpp).
enum class PlaceMode : std::uint8_t { local, interleave, weighted, asymsched, automatic };
enum class HugePages : std::uint8_t { automatic, on, off };

// The page-migration daemon. automatic: one thread and a period of one second if workers run on
// more than one node, otherwise no thread.
struct PagemigdOptions {
    bool automatic = true;
    std::uint32_t threads = 1;  // 0: off
    double period_seconds = 1;  // between two wake-ups, > 0
};

}  // namespace nw
