// SPDX-License-Identifier: Apache-2.0
// Loads cache lines into the cache before they are used.
//
// __builtin_prefetch() is not used: GCC 12 assumes that a function that only prefetches has no
// effect, and removes the calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nw {

inline void prefetch(const void* address) noexcept {
#if defined(NUMAWARP_NO_PREFETCH)
    static_cast<void>(address);
#elif defined(__x86_64__)
    asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(address)));
#elif defined(__aarch64__)
    asm volatile("prfm pldl1keep, %0" : : "Q"(*static_cast<const char*>(address)));
#else
    static_cast<void>(address);
#endif
}

// Prefetches the cache lines that contain the first `bytes` bytes, but at most four lines, so that
// one large object does not displace all other data.
inline void prefetch(const void* address, std::size_t bytes) noexcept {
    constexpr std::size_t line = 64, lines_max = 4;
    const std::size_t in_line = reinterpret_cast<std::uintptr_t>(address) % line;
    const char* const first = static_cast<const char*>(address) - in_line;
    prefetch(first);
    for (std::size_t at = line; at < in_line + bytes && at < lines_max * line; at += line)
        prefetch(first + at);
}

}  // namespace nw
