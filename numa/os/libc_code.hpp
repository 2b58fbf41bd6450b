// The code of the C library: where a function of its own is running, or called us.
#pragma once

#include <cstdint>

namespace nw {

// Whether the address lies in the code of libc, its loader, or the threads library that older ones have.
// Not libstdc++'s: functions of std::string, say, are its code, and allocate and free what is whose the
// string is. Thread: any, when the program has started. Async-signal-safe.
bool is_libc_code(const void* code) noexcept;

// The code of the loader, which lies in one segment. Empty until the program has started.
struct CodeRange {
    std::uintptr_t begin = 0;
    std::uintptr_t bytes = 0;

    bool contains(const void* code) const noexcept {
        return reinterpret_cast<std::uintptr_t>(code) - begin < bytes;
    }
};
extern constinit CodeRange loader_code;

}  // namespace nw
