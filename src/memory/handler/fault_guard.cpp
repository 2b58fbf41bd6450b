// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/fault_guard.hpp"
#include "memory/handler/signal_scope.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "util/check.hpp"
#include "util/locks.hpp"

namespace nw {

constinit thread_local HandlerCall handler_call;

namespace {

struct Fault {
    int signal;
    const char* name;
};

// assert(), std::terminate() and the checks of the standard library end a program with SIGABRT.
// glibc raises this signal while it holds no lock, so the signal handler may leave by a jump.
// SIGPIPE comes from a write() to a pipe without a reader, SIGTRAP from int3 and from
// __builtin_trap() of some compilers, SIGSYS from a system call that a filter forbids.
constexpr std::array<Fault, 8> faults{{{SIGSEGV, "SIGSEGV"},
                                       {SIGBUS, "SIGBUS"},
                                       {SIGFPE, "SIGFPE"},
                                       {SIGILL, "SIGILL"},
                                       {SIGABRT, "SIGABRT"},
                                       {SIGTRAP, "SIGTRAP"},
                                       {SIGSYS, "SIGSYS"},
                                       {SIGPIPE, "SIGPIPE"}}};

std::array<std::atomic<FaultGuard::DescribeAddress>, 4> describers{};

// The actions of the signals in `faults` before the engine installed its own actions. Each guard
// writes an action under the mutex if another action than the engine's is installed. pass_on(), in
// the signal handler, reads an action without the mutex.
std::array<struct sigaction, faults.size()> former_actions{};
Mutex former_actions_mutex;

std::size_t index_of(int signal) noexcept {
    std::size_t i = 0;
    while (faults[i].signal != signal) ++i;
    return i;
}

// True if the calling thread caused the signal by an instruction, or if its process sent the
// signal. In a sent signal, the sender's id takes the place of the fault's address.
bool is_our_doing(const siginfo_t& info) noexcept {
    if (info.si_code > 0) return true;
    return info.si_pid == ::getpid();
}

// Performs the former action of the signal, or the default action.
void pass_on(int signal, siginfo_t* info, void* context) {
    const SignalScope scope;
    const struct sigaction& former = former_actions[index_of(signal)];
    if ((former.sa_flags & SA_SIGINFO) != 0) {
        former.sa_sigaction(signal, info, context);
        return;
    }
    const bool by_instruction = info->si_code > 0 && signal != SIGPIPE;
    if (former.sa_handler == SIG_IGN && !by_instruction) return;
    if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
        former.sa_handler(signal);
        return;
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

// If the model's handler has enabled the processor's alignment check, the check stays enabled in
// the signal handler. It would then cause faults in the engine's code.
inline void clear_alignment_check() noexcept {
#if defined(__x86_64__)
    constexpr unsigned long long alignment_check = 1U << 18;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~alignment_check);
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
    clear_alignment_check();
    FaultGuard* const guard = handler_call.guard.load(std::memory_order_relaxed);
    if (guard == nullptr || !is_our_doing(*info)) {
        pass_on(signal, info, context);
        return;
    }
    guard->disarm();
    guard->note(signal, *info);
    // The jump leaves the signal handler without returning, so the signal mask must be restored
    // here. SA_NODEFER would be enough, but ThreadSanitizer blocks all signals in a signal handler.
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    siglongjmp(guard->env(), 1);
}

void install_handlers() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, probe_signal);
    const LockGuard lock(former_actions_mutex);
    for (std::size_t i = 0; i < faults.size(); ++i) {
        struct sigaction present {};
        sigaction(faults[i].signal, nullptr, &present);
        if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_fault) continue;
        former_actions[i] = present;
        install_in_handler_mode(faults[i].signal, action);
    }
}

// The lowest address of the calling thread's stack; 0: unknown. Cost: if the calling thread is the
// main thread, the C library reads /proc/self/maps.
std::uintptr_t find_end_of_stack() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void* lowest = nullptr;
    std::size_t bytes = 0;
    const bool known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
    pthread_attr_destroy(&attributes);
    return known ? reinterpret_cast<std::uintptr_t>(lowest) : 0;
}

std::uintptr_t end_of_stack() noexcept {
    static thread_local const std::uintptr_t end = find_end_of_stack();
    return end;
}

// The data that libstdc++ and libc++abi keep for each thread (Itanium C++ ABI, 2.2.2).
struct ExceptionGlobals {
    void* caught;
    unsigned int uncaught;
};

}  // namespace

constinit thread_local bool installs_in_handler_mode = false;

void install_in_handler_mode(int signal, const struct sigaction& action) noexcept {
    installs_in_handler_mode = true;
    sigaction(signal, &action, nullptr);
    installs_in_handler_mode = false;
}

void abandon_handler(const char* what) noexcept {
    FaultGuard* const guard = handler_call.guard.load(std::memory_order_relaxed);
    guard->disarm();
    guard->note(what);
    siglongjmp(guard->env(), 1);
}

void FaultGuard::adopt_thread() {
    const std::uintptr_t end = end_of_stack();
    if (stack_end_ == end && end != 0) return;  // already adopted by this thread
    // The signal handlers are installed again for each guard, because a test framework or a library
    // may have installed other signal handlers meanwhile.
    install_handlers();
    float_environment_ = FloatEnvironment::current();
    stack_end_ = end;
    // AddressSanitizer and some test frameworks install a signal stack, which must not be replaced.
    stack_t present{};
    if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
    constexpr std::size_t stack_bytes = 64 * 1024;
    signal_stack_ = std::make_unique<char[]>(stack_bytes);
    stack_t stack{};
    stack.ss_sp = signal_stack_.get();
    stack.ss_size = stack_bytes;
    sigaltstack(&stack, nullptr);
}

void FaultGuard::join_thread() noexcept { stack_end_ = end_of_stack(); }

FaultGuard::~FaultGuard() {
    stack_t current{};
    if (signal_stack_ == nullptr || sigaltstack(nullptr, &current) != 0 ||
        current.ss_sp != signal_stack_.get())
        return;
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
}

void FaultGuard::describe_addresses_by(DescribeAddress describe) noexcept {
    for (auto& one : describers) {
        DescribeAddress there = nullptr;
        if (one.compare_exchange_strong(there, describe) || there == describe) return;
    }
    NW_CHECK(!"too many address describers");
}

void FaultGuard::recover() const noexcept {
    float_environment_.install();
    auto& exceptions = *reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
    exceptions = {nullptr, 0};
}

void FaultGuard::note(const char* what) noexcept {
    std::snprintf(description_, sizeof description_, "%s", what);
}

// There are guard pages below the stack. A function with large locals may skip some of them.
// Therefore every address from 1 MiB below the end of the stack to 64 KiB above it counts as an
// overflow.
bool FaultGuard::overflows_stack(std::uintptr_t address) const noexcept {
    constexpr std::uintptr_t below = std::uintptr_t{1} << 20;
    constexpr std::uintptr_t above = 64 * 1024;
    return stack_end_ != 0 && address >= stack_end_ - below && address < stack_end_ + above;
}

void FaultGuard::note(int signal, const siginfo_t& info) noexcept {
    const char* const name = faults[index_of(signal)].name;
    if (signal == SIGABRT) {
        note("SIGABRT: abort() or a failed assertion");
        return;
    }
    if (signal == SIGPIPE) {
        note("SIGPIPE: a write to a pipe or socket that has no reader");
        return;
    }
    if (info.si_code <= 0) {  // a sent signal: it has a sender instead of an address
        std::snprintf(description_, sizeof description_, "%s: raised by the handler itself", name);
        return;
    }
    if (signal == SIGTRAP || signal == SIGSYS) {
        note(signal == SIGTRAP ? "SIGTRAP: a breakpoint instruction"
                               : "SIGSYS: a system call that is forbidden here");
        return;
    }
    std::array<char, 224> words{};
    for (const auto& one : describers) {
        const DescribeAddress describe = one.load(std::memory_order_relaxed);
        if ((signal != SIGSEGV && signal != SIGBUS) || describe == nullptr) break;
        if (!describe(info.si_addr, words.data(), words.size())) continue;
        std::snprintf(description_, sizeof description_, "%s: %s", name, words.data());
        return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
    if (signal == SIGSEGV && overflows_stack(address)) {
        note("SIGSEGV: the stack overflowed");
        return;
    }
    // Higher addresses are mappings that the kernel places at random, and memory of LPs, which
    // depends on the layout. Such an address would differ between runs, so it is not printed.
    constexpr std::uintptr_t told_below = std::uintptr_t{1} << 32;
    if (address < told_below)
        std::snprintf(description_, sizeof description_, "%s at address %p", name, info.si_addr);
    else
        std::snprintf(description_, sizeof description_, "%s at a bad address", name);
}

}  // namespace nw
