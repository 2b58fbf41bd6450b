// Survives what a handler does in a mis-speculated state: a null pointer followed, a division by
// zero, an endless recursion, a failed assertion. The signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
// SIGABRT) jumps back to the worker's loop, which treats the event like one whose handler threw.
//
// Cost: one setjmp a batch of events, two stores an event. Covered: synchronous signals raised
// inside a handler. Not covered: a handler that never returns, one that overwrites the engine's own
// memory, and one that holds a lock of a library when it crashes.
//
// Thread: each worker has its own guard, installed for the thread's life.
#pragma once

#include <csetjmp>
#include <csignal>
#include <memory>

namespace nw {

class FaultGuard;

// The guard that is armed on this thread. Read by the signal handler of the same thread.
extern constinit thread_local FaultGuard* volatile armed_guard [[gnu::tls_model("initial-exec")]];

class FaultGuard {
  public:
    FaultGuard() = default;
    ~FaultGuard();

    // Before the first arm(), on the thread that will arm: gives it an alternate signal stack, unless
    // it has one (an endless recursion leaves no other), and installs the process's handlers.
    void adopt_thread();

    FaultGuard(const FaultGuard&) = delete;
    FaultGuard& operator=(const FaultGuard&) = delete;

    // Between arm() and disarm() a fault on this thread jumps to env().
    void arm() noexcept { armed_guard = this; }
    void disarm() noexcept { armed_guard = nullptr; }

    // Use as `if (sigsetjmp(guard.env(), 0) != 0) { …a fault happened… }`; the frame that called
    // it must be live whenever the guard is armed.
    sigjmp_buf& env() noexcept { return env_; }

    // What happened, for the message: "SIGSEGV at address 0x0".
    const char* description() const noexcept { return description_; }

    void note(int signal, const void* address) noexcept;  // by the signal handler

  private:
    sigjmp_buf env_;
    char description_[64] = {};
    std::unique_ptr<char[]> stack_;
};

}  // namespace nw
