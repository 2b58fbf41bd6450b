// Asks for a cache line before it is needed.
//
// Not __builtin_prefetch: GCC 12 takes a function that does nothing but prefetch for one without
// effect and drops the calls.
#pragma once

namespace nw {

inline void prefetch(const void* address) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(address)));
#elif defined(__aarch64__)
    asm volatile("prfm pldl1keep, %0" : : "Q"(*static_cast<const char*>(address)));
#else
    static_cast<void>(address);
#endif
}

}  // namespace nw
