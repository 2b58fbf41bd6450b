// SPDX-License-Identifier: Apache-2.0
// The code of the C library. It is used to find out whether a function of libc is running, or has
// called the interposer.
#pragma once

#include <cstdint>

namespace nw {

// Whether the address is in the code of libc, its loader, or the threads library of older versions
// of libc. Code of libstdc++ does not count: functions of std::string, for example, allocate and
// free memory that belongs to the owner of the string. Thread: any, after the start of the program.
// Async-signal-safe.
bool is_libc_code(const void* code) noexcept;

// The code of the loader, which is in one segment. Empty until the program has started.
struct CodeRange {
    std::uintptr_t begin = 0;
    std::uintptr_t bytes = 0;

    bool contains(const void* code) const noexcept {
        return reinterpret_cast<std::uintptr_t>(code) - begin < bytes;
    }
};
extern constinit CodeRange loader_code;

}  // namespace nw
