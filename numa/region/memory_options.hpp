// How the user wants memory to be had; the engine's configuration carries these down.
#pragma once

#include <cstdint>

namespace nw {

// numa: segments from the fixed region, placed by first touch. libc: segments from glibc's malloc,
// with no placement (the baseline of "NUMA Time Warp", PADS 2015).
enum class MemoryMode : std::uint8_t { numa, libc };
// Where pages should be (place/placement_policy.hpp).
enum class PlaceMode : std::uint8_t { local, interleave, weighted, asymsched, automatic };
enum class HugePages : std::uint8_t { automatic, on, off };

// The page-migration daemon. Left to the engine: one thread and one second where workers run on more
// than one node, no thread elsewhere.
struct PagemigdOptions {
    bool automatic = true;
    std::uint32_t threads = 1;  // 0: off
    double period_seconds = 1;  // between two wake-ups, > 0
};

}  // namespace nw
