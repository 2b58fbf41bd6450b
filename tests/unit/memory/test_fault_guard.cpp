// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/fault_guard.hpp"

#include <cfenv>
#include <csignal>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include <pthread.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace nw {
namespace {

// Returns the guard's description of the failure; empty if the body has returned.
template <class Body>
std::string run_guarded(FaultGuard& guard, Body&& body) {
    if (sigsetjmp(guard.env(), 0) != 0) {
        guard.recover();
        return guard.description();
    }
    guard.arm();
    body();
    guard.disarm();
    guard.restore_float_environment();
    return {};
}

[[gnu::noinline, gnu::no_sanitize("undefined,address,thread")]] void follow_null() {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
}

class RoundingUpward {
  public:
    RoundingUpward() { std::fesetround(FE_UPWARD); }
    ~RoundingUpward() { std::fesetround(FE_TONEAREST); }
};

TEST_CASE(
    "FaultGuard: a crash and a handler restore the rounding mode that the thread had at adoption") {
    const RoundingUpward upward;
    FaultGuard guard;
    guard.adopt_thread();
    CHECK(run_guarded(guard, follow_null) == "SIGSEGV at address (nil)");
    CHECK(std::fegetround() == FE_UPWARD);
    CHECK(run_guarded(guard, [] { std::fesetround(FE_DOWNWARD); }).empty());
    CHECK(std::fegetround() == FE_UPWARD);
    CHECK(run_guarded(guard, [] {
              std::fesetround(FE_DOWNWARD);
              follow_null();
          }) == "SIGSEGV at address (nil)");
    CHECK(std::fegetround() == FE_UPWARD);
    volatile double one = 1;
    volatile double three = 3;
    const double up = one / three;
    std::fesetround(FE_TONEAREST);
    CHECK(up > one / three);  // the processor rounded upward
}

TEST_CASE("FaultGuard: no exception is left after a crash in a catch block or during unwinding") {
    FaultGuard guard;
    guard.adopt_thread();
    const std::string in_catch = run_guarded(guard, [] {
        try {
            throw std::runtime_error("first");
        } catch (const std::exception&) {
            follow_null();
        }
    });
    CHECK(in_catch == "SIGSEGV at address (nil)");
    CHECK(std::current_exception() == nullptr);

    struct Crasher {
        ~Crasher() { follow_null(); }
    };
    const std::string unwinding = run_guarded(guard, [] {
        try {
            const Crasher crasher;
            throw std::runtime_error("second");
        } catch (const std::exception&) {
        }
    });
    CHECK(unwinding == "SIGSEGV at address (nil)");
    CHECK(std::uncaught_exceptions() == 0);
    CHECK(std::current_exception() == nullptr);
}

TEST_CASE("FaultGuard: a call that would end the program ends the handler and is named") {
    FaultGuard guard;
    guard.adopt_thread();
    CHECK(run_guarded(guard, [] { std::exit(7); }) ==
          "a call of exit(7), which would end the program");
    CHECK(run_guarded(guard, [] { ::_exit(8); }) ==
          "a call of _exit(8), which would end the program");
    CHECK(run_guarded(guard, [] { std::quick_exit(9); }) ==
          "a call of quick_exit(9), which would end the program");
    CHECK(run_guarded(guard, [] { pthread_exit(nullptr); }) ==
          "a call of pthread_exit(), which would end the worker's thread");
    CHECK(run_guarded(guard, [] { std::raise(SIGTERM); }) ==
          "SIGTERM: raised by the handler itself");
    CHECK(run_guarded(guard, [] { ::kill(::getpid(), SIGKILL); }) ==
          "SIGKILL: raised by the handler itself");
    CHECK(run_guarded(guard, [] { std::abort(); }) == "SIGABRT: abort() or a failed assertion");
    CHECK(run_guarded(guard, [] {
              int ends[2];
              REQUIRE(::pipe(ends) == 0);
              ::close(ends[0]);
              [[maybe_unused]] const ssize_t written = ::write(ends[1], "x", 1);
          }) == "SIGPIPE: a write to a pipe or socket that has no reader");
}

volatile std::sig_atomic_t chained = 0;

TEST_CASE("FaultGuard: a signal outside of handlers reaches the earlier signal handler") {
    struct sigaction before {};
    struct sigaction counting {};
    counting.sa_handler = [](int) { chained = chained + 1; };
    sigemptyset(&counting.sa_mask);
    sigaction(SIGTRAP, &counting, &before);
    FaultGuard guard;
    guard.adopt_thread();
    chained = 0;
    std::raise(SIGTRAP);
    CHECK(chained == 1);
    CHECK(run_guarded(guard, [] { std::raise(SIGTRAP); }) ==
          "SIGTRAP: raised by the handler itself");
    CHECK(chained == 1);
    sigaction(SIGTRAP, &before, nullptr);
}

}  // namespace
}  // namespace nw
