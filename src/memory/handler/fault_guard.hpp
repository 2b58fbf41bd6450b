// SPDX-License-Identifier: Apache-2.0
// Lets a worker continue after errors of a handler that runs in a state from a wrong speculation:
// an access through a null pointer, a division by zero, an endless recursion, a failed assertion,
// exit(). The signal handler, or the interposer's function, jumps back to the worker's loop. The
// worker treats the event like one whose handler threw an exception.
//
// Cost: one setjmp per batch of events; per event two stores and a comparison of the floating-point
// environment.
// Covered: signals that the handler's thread causes synchronously. A signal from another process is
// not a failure of the handler; it is passed to the action that was installed before.
// Not covered: a handler that overwrites memory of the engine, or that holds a lock of a library
// when it crashes.
//
// Thread: one at a time.
#pragma once

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <memory>
#include <utility>

#include "memory/handler/float_environment.hpp"

namespace nw {

class FaultGuard;

// With this signal, another thread requests that a thread leaves its handler (handler_probe.hpp).
// The signal is blocked while a fault is handled. Otherwise the thread would leave the handler with
// the signal mask of the fault handler, and the next fault would end the program.
inline constexpr int probe_signal = SIGURG;

// A thread's current handler call. It is read by signal handlers on the same thread, and by threads
// that watch this thread (handler_probe.hpp). All accesses are relaxed: plain loads and stores.
struct HandlerCall {
    std::atomic<FaultGuard*> guard{nullptr};  // the armed guard; null: no handler runs
    // The number of the call. The HandlerProbe that is current on the thread counts the calls.
    // While this probe is current, the same number means that the same call still runs.
    std::atomic<std::uint64_t> number{0};
};
extern constinit thread_local HandlerCall handler_call [[gnu::tls_model("initial-exec")]];

// True if the calling thread runs a handler, or another function of the model that may fail.
inline bool in_handler() noexcept {
    return handler_call.guard.load(std::memory_order_relaxed) != nullptr;
}

// Leaves the running handler as if it had crashed. `what` is copied; it is the message if the event
// is committed.
// Requires: in_handler().
[[noreturn, gnu::cold]] void abandon_handler(const char* what) noexcept;
// The message for a handler that finds no memory. It contains no details, because it must be the
// same in every run. The allocation that fails first depends on the memory that other workers have
// taken.
inline constexpr const char* out_of_memory_message =
    "out of memory: there is no room for the LP's heap, or for the events and output of its "
    "handler; allowed: a larger slot (fewer groups), or a larger --memory-cap";

class FaultGuard {
  public:
    FaultGuard() = default;
    ~FaultGuard();

    // Gives the thread an alternate signal stack, unless it has one, and installs the signal
    // handlers of the process. After an endless recursion, only the alternate stack has room. The
    // thread's floating-point environment becomes the environment of its handlers. A thread
    // inherits this environment from the thread that creates it, so all workers have the
    // environment of the set-up.
    // Thread: the thread that calls arm(), before its first call of arm().
    void adopt_thread();
    // Like adopt_thread(), for a thread that has called adopt_thread() of some guard before. Does
    // not change the floating-point environment.
    void join_thread() noexcept;

    FaultGuard(const FaultGuard&) = delete;
    FaultGuard& operator=(const FaultGuard&) = delete;

    // Between arm() and disarm(), a fault on this thread jumps to env().
    [[gnu::always_inline]] void arm() noexcept {
        handler_call.number.store(handler_call.number.load(std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
        handler_call.guard.store(this, std::memory_order_relaxed);
    }
    void disarm() noexcept { handler_call.guard.store(nullptr, std::memory_order_relaxed); }

    // Describes an invalid access to `address`: writes one line, without a newline, as the
    // continuation of "SIGSEGV: ". Returns false if it has no description. Must be
    // async-signal-safe.
    using DescribeAddress = bool (*)(const void* address, char* line, std::size_t bytes) noexcept;
    // Registers a function for all guards. A function that is registered twice is called once. At
    // most four different functions can be registered.
    // Thread: any, before the first handler.
    static void describe_addresses_by(DescribeAddress describe) noexcept;

    // Use as `if (sigsetjmp(guard.env(), 0) != 0) { …a fault happened… }`, and then call recover().
    // The frame that called sigsetjmp must be live whenever the guard is armed.
    sigjmp_buf& env() noexcept { return env_; }

    // Called after the jump. Resets the floating-point environment of the thread to the environment
    // outside of handlers. In the C++ runtime, resets the thread's caught exceptions and its number
    // of uncaught exceptions.
    void recover() const noexcept;

    // Called after a handler returned. The handler may have changed the environment, for example
    // the rounding mode, and no snapshot restores it.
    void restore_float_environment() const noexcept {
        if (!(FloatEnvironment::current() == float_environment_)) [[unlikely]]
            float_environment_.install();
    }

    // The last fault, for the message: "SIGSEGV at address 0x0". The text is the same on every
    // engine.
    const char* description() const noexcept { return description_; }

    // Copies the line. A line that is longer than `description_` is cut.
    void note(const char* what) noexcept;
    void note(int signal, const siginfo_t& info) noexcept;  // in a signal handler

    // Records that the handler was left without an error, and runs again later.
    void note_interruption() noexcept { interrupted_ = true; }
    // Returns the record of note_interruption() and clears it. Called once after the jump.
    bool was_interrupted() noexcept { return std::exchange(interrupted_, false); }

  private:
    bool overflows_stack(std::uintptr_t address) const noexcept;

    sigjmp_buf env_;
    bool interrupted_ = false;
    FloatEnvironment float_environment_;
    std::uintptr_t stack_end_ = 0;  // the lowest address of the thread's stack; 0: unknown
    char description_[1024] = {};
    std::unique_ptr<char[]> signal_stack_;
};

}  // namespace nw
