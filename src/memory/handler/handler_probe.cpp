// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/handler_probe.hpp"

#include <ucontext.h>

#include <csignal>
#include <ctime>

#include "memory/handler/heap_scope.hpp"
#include "memory/handler/signal_scope.hpp"
#include "numa/os/libc_code.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

// The probe of the calling thread. The thread's signal handler reads it.
constinit thread_local HandlerProbe* volatile own_probe [[gnu::tls_model("initial-exec")]] =
    nullptr;

// The action of the signal before the engine installed its own action.
struct sigaction former_action {};
Mutex former_action_mutex;

// A thread in the C library may hold one of the library's locks.
bool is_in_libc([[maybe_unused]] const ucontext_t& context) noexcept {
#if defined(__x86_64__)
    return is_libc_code(reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]));
#elif defined(__aarch64__)
    return is_libc_code(reinterpret_cast<const void*>(context.uc_mcontext.pc));
#else
    return false;
#endif
}

}  // namespace

void HandlerProbe::on_signal(int signal, siginfo_t* info, void* context) {
    HandlerProbe* const probe = own_probe;
    if (probe == nullptr || info->si_code != SI_TKILL) {
        const SignalScope scope;
        if ((former_action.sa_flags & SA_SIGINFO) != 0)
            former_action.sa_sigaction(signal, info, context);
        else if (former_action.sa_handler != SIG_DFL && former_action.sa_handler != SIG_IGN)
            former_action.sa_handler(signal);
        return;
    }
    FaultGuard* const guard = handler_call.guard.load(std::memory_order_relaxed);
    if (guard == nullptr || handler_call.number.load(std::memory_order_relaxed) !=
                                probe->call_.load(std::memory_order_relaxed))
        return;
    const ProbeRequest request = probe->request_.load(std::memory_order_relaxed);
    const auto& where = *static_cast<ucontext_t*>(context);
    if (request != ProbeRequest::report) {
        // Functions of an LP that run outside of the LP's heap can be ended, but not interrupted.
        const bool in_platform_mode = probe->is_in_platform_mode();
        if (in_platform_mode && request == ProbeRequest::interrupt) return;
        if (!probe->by_force_.load(std::memory_order_relaxed) &&
            (in_platform_mode || is_in_libc(where)))
            return;
    }
    if (!probe->answer(request, *guard)) return;
    guard->disarm();
    pthread_sigmask(SIG_SETMASK, &where.uc_sigmask, nullptr);
    siglongjmp(guard->env(), 1);
}

bool HandlerProbe::is_in_platform_mode() const noexcept { return current_heap == nullptr; }

// A test may end without leave_thread().
HandlerProbe::~HandlerProbe() {
    if (own_probe == this) own_probe = nullptr;
}

void HandlerProbe::adopt_thread() {
    {
        const LockGuard lock(former_action_mutex);
        struct sigaction present {};
        sigaction(probe_signal, nullptr, &present);
        if ((present.sa_flags & SA_SIGINFO) == 0 || present.sa_sigaction != on_signal) {
            former_action = present;
            struct sigaction action {};
            action.sa_sigaction = on_signal;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
            sigemptyset(&action.sa_mask);
            install_in_handler_mode(probe_signal, action);
        }
    }
    join_thread();
}

void HandlerProbe::join_thread() noexcept {
    const LockGuard lock(mutex_);
    make_current();
    thread_ = pthread_self();
    running_ = &handler_call;
}

void HandlerProbe::leave_thread() noexcept {
    const LockGuard lock(mutex_);
    if (own_probe == this) {
        end_being_current();
        own_probe = nullptr;
    }
    running_ = nullptr;
}

void HandlerProbe::make_current() noexcept {
    HandlerProbe* const before = own_probe;
    if (before == this) return;
    if (before != nullptr) before->end_being_current();
    handler_call.number.store(calls_, std::memory_order_relaxed);
    is_current_.store(true, std::memory_order_relaxed);
    own_probe = this;
}

void HandlerProbe::end_being_current() noexcept {
    is_current_.store(false, std::memory_order_relaxed);
    calls_ = handler_call.number.load(std::memory_order_relaxed);
}

std::uint64_t HandlerProbe::running_call() noexcept {
    const LockGuard lock(mutex_);
    if (running_ == nullptr || running_->guard.load(std::memory_order_relaxed) == nullptr) return 0;
    // If the thread changes to another probe here, the number may be of a call of that probe. The
    // result is then wrong for one check of the watch.
    const std::uint64_t number = running_->number.load(std::memory_order_relaxed);
    return is_current_.load(std::memory_order_relaxed) ? number : 0;
}

double HandlerProbe::cpu_seconds() noexcept {
    const LockGuard lock(mutex_);
    clockid_t clock{};
    timespec used{};
    if (running_ == nullptr || pthread_getcpuclockid(thread_, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return 0;
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

void HandlerProbe::request(ProbeRequest request, std::uint64_t call, bool by_force) noexcept {
    const LockGuard lock(mutex_);
    if (running_ == nullptr) return;
    request_.store(request, std::memory_order_relaxed);
    call_.store(call, std::memory_order_relaxed);
    by_force_.store(by_force, std::memory_order_relaxed);
    pthread_kill(thread_, probe_signal);
}

}  // namespace nw
