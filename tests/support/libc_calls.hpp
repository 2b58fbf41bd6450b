// SPDX-License-Identifier: Apache-2.0
// Calls of functions of libc and libm, with the names of these functions. Tests of the interposer
// make the calls on two threads at the same time, and in handlers that are undone.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace nw::test {

// Formats a number as the text of a result.
inline std::string number(long value) { return std::to_string(value); }

// Reads the result of a function and returns the text of the result. The result is read at each
// call.
using LibcResult = std::function<std::string()>;

struct LibcCall {
    const char* name;
    // Calls the function with arguments that depend on `which`, 0 to 3.
    LibcResult (*call)(unsigned which);
};

// Functions that return a pointer to an object that exists once per thread.
std::span<const LibcCall> calls_with_thread_results();
// Functions that keep a state between two calls.
std::span<const LibcCall> calls_with_thread_states();

// Functions whose memory belongs to the LP, and functions whose memory belongs to libc. The result
// is a text.
struct PlainCall {
    const char* name;  // or several names
    std::string (*call)(unsigned which);
};
std::span<const PlainCall> calls_in_lp();
std::span<const PlainCall> calls_in_platform_mode();

// Functions that a handler must not call.
struct RefusedCall {
    const char* name;
    void (*call)();
};
std::span<const RefusedCall> refused_calls();

}  // namespace nw::test
