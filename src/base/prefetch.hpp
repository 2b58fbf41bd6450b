// Asks for cache lines before they are needed.
//
// Not __builtin_prefetch: GCC 12 takes a function that does nothing but prefetch for one without
// effect and drops the calls.
#pragma once

#include <cstddef>

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

// The first `bytes` from there, line by line: four lines at most, so that one large thing does not take the
// place of all others.
inline void prefetch(const void* address, std::size_t bytes) noexcept {
    constexpr std::size_t line = 64, lines_max = 4;
    prefetch(address);
    for (std::size_t at = line; at < bytes && at < lines_max * line; at += line)
        prefetch(static_cast<const char*>(address) + at);
}

}  // namespace nw
