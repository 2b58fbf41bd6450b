// The bytes of one LP's state at one moment: which chunks were in use, and what was in them. One
// contiguous buffer of platform memory; made, brought back and dropped by LpHeap.
//
//     Snapshot | blocks in use of each bin (32 bit, padded to 8 bytes)
//              | per bin, per block: free mask, the chunks in use
//              | per large block in use: LargeImage, its bytes (padded to 8)
#pragma once

#include <cstddef>
#include <cstdint>

namespace nw {

struct Snapshot {
    std::uint64_t bytes;       // of the whole buffer
    std::uint64_t used_units;  // of 16 bytes, in small chunks
    std::uint32_t large_count;
    std::uint32_t bin_count;

    struct LargeImage {
        std::uint64_t index;
        std::uint64_t bytes;
    };
};

}  // namespace nw
