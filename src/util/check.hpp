// SPDX-License-Identifier: Apache-2.0
// NW_CHECK(condition) checks an assumption of numawarp's code. The check is on in every build. If
// the condition is false, numawarp has a bug: NW_CHECK throws InternalError (exit code 1). The
// message contains the expression and, if the thread has set them in error_context(), the rank, the
// worker, the LP and the virtual time.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw {

class InternalError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

// The machine does not provide something that the run needs (memory, address space, launch): exit
// code 4.
class MachineError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The position of the calling thread in the run, for error messages. Negative numbers: unknown.
// Only the thread itself writes its ErrorContext.
struct ErrorContext {
    std::int64_t rank = -1;
    std::int64_t worker = -1;
    std::int64_t lp = -1;
    VirtualTime time = 0;
};
ErrorContext& error_context() noexcept;

[[noreturn, gnu::cold]] void check_failed(const char* expression, const char* file, int line);

}  // namespace nw

#define NW_CHECK(condition)                                     \
    do {                                                        \
        if (!(condition)) [[unlikely]]                          \
            ::nw::check_failed(#condition, __FILE__, __LINE__); \
    } while (false)

// A check that is too expensive for every build. It is on in the `paranoid` preset and in sanitizer
// builds.
#ifdef NUMAWARP_PARANOID
#define NW_PARANOID(condition) NW_CHECK(condition)
#else
#define NW_PARANOID(condition) static_cast<void>(0)
#endif
