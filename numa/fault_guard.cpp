#include "numa/fault_guard.hpp"

#include <ucontext.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace nw {

constinit thread_local FaultGuard* volatile armed_guard = nullptr;

namespace {

// SIGABRT is how assert(), std::terminate() and the standard library's own checks end a program;
// glibc raises it with no lock held, so it may be left by a jump.
constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const char* signal_name(int signal) noexcept {
    switch (signal) {
        case SIGSEGV:
            return "SIGSEGV";
        case SIGBUS:
            return "SIGBUS";
        case SIGFPE:
            return "SIGFPE";
        case SIGABRT:
            return "SIGABRT";
        default:
            return "SIGILL";
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    FaultGuard* guard = armed_guard;
    if (guard == nullptr) {
        // Not in a handler: our own bug. Let the signal do what it does by default.
        std::signal(signal, SIG_DFL);
        std::raise(signal);
        return;
    }
    armed_guard = nullptr;
    guard->note(signal, info->si_addr);
    // The jump leaves the handler without returning, so nobody else gives the thread its mask back.
    // NODEFER would do, were it not for ThreadSanitizer, which blocks all signals in a handler.
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    siglongjmp(guard->env(), 1);
}

void install_handlers() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int signal : fault_signals) sigaction(signal, &action, nullptr);
}

}  // namespace

void FaultGuard::adopt_thread() {
    // Each time: others (a test framework, a library) may have put their own in place since.
    install_handlers();
    // AddressSanitizer and some test frameworks bring a stack of their own, and want it back.
    stack_t present{};
    if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
    constexpr std::size_t stack_bytes = 64 * 1024;
    stack_ = std::make_unique<char[]>(stack_bytes);
    stack_t stack{};
    stack.ss_sp = stack_.get();
    stack.ss_size = stack_bytes;
    sigaltstack(&stack, nullptr);
}

FaultGuard::~FaultGuard() {
    stack_t current{};
    if (stack_ == nullptr || sigaltstack(nullptr, &current) != 0 || current.ss_sp != stack_.get())
        return;
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
}

void FaultGuard::note(int signal, const void* address) noexcept {
    if (signal == SIGABRT) {
        std::snprintf(description_, sizeof description_, "SIGABRT: abort() or a failed assertion");
        return;
    }
    std::snprintf(description_, sizeof description_, "%s at address %p", signal_name(signal),
                  address);
}

}  // namespace nw
