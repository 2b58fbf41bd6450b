// The code of the C library: where a function of its own is running, or called us.
#pragma once

namespace nw {

// Whether the address lies in the code of libc, its loader, or the threads library that older ones have.
// Not libstdc++'s: functions of std::string, say, are its code, and allocate and free what is whose the
// string is. Thread: any, when the program has started. Async-signal-safe.
bool is_libc_code(const void* code) noexcept;

}  // namespace nw
