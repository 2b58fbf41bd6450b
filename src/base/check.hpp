// NW_CHECK: a promise of our own code, kept in every build. A breach is a bug of ours: it throws
// InternalError (exit code 1) with the expression and, where the thread says so, the worker, LP and
// virtual time it was at.
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

// The machine refuses what the run needs (memory, address space, launch): exit code 4.
class MachineError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Where this thread is, for error messages. One writer: the thread itself.
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

// Too dear for every build: on in the `paranoid` preset and in sanitizer builds.
#ifdef NUMAWARP_PARANOID
#define NW_PARANOID(condition) NW_CHECK(condition)
#else
#define NW_PARANOID(condition) static_cast<void>(0)
#endif
