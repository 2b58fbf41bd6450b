// Survives what a handler does in a mis-speculated state: a null pointer followed, a division by
// zero, an endless recursion, a failed assertion, exit(). The signal, or the function that stands in
// for the one called, jumps back to the worker's loop, which treats the event like one whose handler
// threw.
//
// Cost: one setjmp a batch of events; two stores and a look at the floating-point environment an
// event. Covered: what a handler's own thread is told synchronously. A signal from another process is
// nobody's failure here: it goes to whoever was there before us. Not covered: a handler that
// overwrites the engine's own memory, and one that holds a lock of a library when it crashes.
//
// Thread: each worker has its own guard, installed for the thread's life.
#pragma once

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <memory>
#include <utility>

#include "numa/handler/float_environment.hpp"

namespace nw {

class FaultGuard;

// By this signal another thread asks a handler to leave (handler_probe.hpp). It waits while a fault is
// answered: who is asked there would leave with the mask of signals that holds in there, and the next
// fault would end the program.
inline constexpr int probe_signal = SIGURG;

// What a thread knows of the handler that it is running. Read by the signal handlers of the same thread,
// and by who watches it (handler_probe.hpp). All accesses are relaxed: plain loads and stores.
struct HandlerCall {
    std::atomic<FaultGuard*> guard{nullptr};  // that is armed; null: no handler runs
    std::atomic<std::uint64_t> number{0};  // how often one was armed: who finds it unchanged knows
                                           // that the same call still runs
};
extern constinit thread_local HandlerCall handler_call [[gnu::tls_model("initial-exec")]];

// Whether the calling thread runs a model's handler, or another function of the model's that may fail.
inline bool in_handler() noexcept {
    return handler_call.guard.load(std::memory_order_relaxed) != nullptr;
}

// Leaves the running handler as if it had crashed; `what` is the line that is said if the event is
// committed. It is copied. Requires: in_handler().
[[noreturn, gnu::cold]] void abandon_handler(const char* what) noexcept;
// What it is told where memory ends. Which allocation of a handler meets the end first is a matter of what other
// workers have taken, and must not be seen.
inline constexpr const char* words_where_memory_ends =
    "out of memory: there is no room for the LP's heap, or for the events and output of its "
    "handler; allowed: a larger slot (fewer groups), or a larger --memory-cap";

class FaultGuard {
  public:
    FaultGuard() = default;
    ~FaultGuard();

    // Before the first arm(), on the thread that will arm: gives it an alternate signal stack, unless
    // it has one (an endless recursion leaves no other), and installs the process's handlers. The
    // thread's floating-point environment becomes that of all handlers: a thread has it from the one
    // that made it, and so from set-up.
    void adopt_thread();

    FaultGuard(const FaultGuard&) = delete;
    FaultGuard& operator=(const FaultGuard&) = delete;

    // Between arm() and disarm() a fault on this thread jumps to env().
    void arm() noexcept {
        handler_call.number.store(handler_call.number.load(std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
        handler_call.guard.store(this, std::memory_order_relaxed);
    }
    void disarm() noexcept { handler_call.guard.store(nullptr, std::memory_order_relaxed); }

    // Writes one line without an end about an address that was touched and must not be, as what follows
    // "SIGSEGV: "; false: it knows nothing of it. Safe in a signal handler.
    using DescribeAddress = bool (*)(const void* address, char* line, std::size_t bytes) noexcept;
    // For all guards, and each asked once; who lays memory out says it before the first handler.
    static void describe_addresses_by(DescribeAddress describe) noexcept;

    // Use as `if (sigsetjmp(guard.env(), 0) != 0) { …a fault happened… }`; the frame that called
    // it must be live whenever the guard is armed. Then recover().
    sigjmp_buf& env() noexcept { return env_; }

    // After the jump: what a handler leaves behind in its thread besides memory becomes as it was when
    // no handler runs. That is the floating-point environment, and the C++ runtime's exceptions: those
    // being handled, and the number of those on their way.
    void recover() const noexcept;

    // After a handler that came back: it may have changed rounding, say, which no snapshot restores.
    void restore_float_environment() const noexcept {
        if (!(FloatEnvironment::current() == float_environment_)) [[unlikely]]
            float_environment_.install();
    }

    // What happened last, for the message: "SIGSEGV at address 0x0". The same on every engine.
    const char* description() const noexcept { return description_; }

    // Copies the line; what is longer than a screen is cut.
    void note(const char* what) noexcept;
    void note(int signal, const siginfo_t& info) noexcept;  // by the signal handler

    // The handler was left though nothing was wrong with it, to run again later.
    void note_interruption() noexcept { interrupted_ = true; }
    // Asked once after the jump.
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
