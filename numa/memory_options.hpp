// How the user wants memory to be had; the engine's configuration carries these down.
#pragma once

#include <cstdint>

namespace nw {

// numa: segments from the fixed region, placed by first touch. libc: segments from glibc's malloc,
// with no placement (the baseline of "NUMA Time Warp", PADS 2015).
enum class MemoryMode : std::uint8_t { numa, libc };
enum class HugePages : std::uint8_t { automatic, on, off };

}  // namespace nw
