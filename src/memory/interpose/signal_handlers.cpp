// SPDX-License-Identifier: Apache-2.0
// Signal handlers of the program, of a library or of a profiler. Such a signal handler runs outside
// of the model's handler that it interrupts (SignalScope): it may call functions that are refused
// in a model's handler, and its memory belongs to libc. Therefore a function of this file is
// installed in place of each signal handler, and calls the signal handler.
#include "memory/interpose/signal_handlers.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <signal.h>

#include "memory/handler/signal_scope.hpp"
#include "memory/interpose/refuse.hpp"

// Some of these functions are deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" sighandler_t bsd_signal(int, sighandler_t);  // no longer declared in a header

namespace {

using nw::interpose::original_of;

using DetailedHandler = void (*)(int, siginfo_t*, void*);

constinit auto original_sigaction = original_of(&::sigaction, "sigaction");
constinit auto original_signal = original_of(&::signal, "signal");
constinit auto original_bsd_signal = original_of(&::bsd_signal, "bsd_signal");
constinit auto original_ssignal = original_of(&::ssignal, "ssignal");
constinit auto original_sysv_signal = original_of(&::sysv_signal, "sysv_signal");
constinit auto original_sigset = original_of(&::sigset, "sigset");

// Finds the original sigaction(), signal() and sigset() before main(). A signal handler may call
// these three functions, but must not call dlsym(), which finds them.
[[maybe_unused]] const bool are_known =
    (original_sigaction.function(), original_signal.function(), original_sigset.function(), true);

// The handlers that the program has installed last. sa_handler and sa_sigaction share storage.
constinit std::array<std::atomic<sighandler_t>, NSIG> handlers{};

// True for signals that were ignored when a handler was installed for them.
constinit std::array<std::atomic<bool>, NSIG> was_ignored{};

void enter(int signal) {
    const nw::SignalScope scope;
    handlers[static_cast<std::size_t>(signal)].load(std::memory_order_relaxed)(signal);
}

void enter_with_details(int signal, siginfo_t* details, void* context) {
    const nw::SignalScope scope;
    const sighandler_t handler =
        handlers[static_cast<std::size_t>(signal)].load(std::memory_order_relaxed);
    reinterpret_cast<DetailedHandler>(reinterpret_cast<void (*)()>(handler))(signal, details,
                                                                             context);
}

sighandler_t details_entry() noexcept {
    return reinterpret_cast<sighandler_t>(reinterpret_cast<void (*)()>(&enter_with_details));
}

bool is_ours(sighandler_t handler) noexcept {
    return handler == enter || handler == details_entry();
}

bool is_function(sighandler_t handler) noexcept {
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_HOLD && handler != SIG_ERR;
}

// Calls `install` with the handler that replaces `wanted`. Returns the program's previous handler.
template <class Install>
sighandler_t replace(int signal, sighandler_t wanted, sighandler_t ours, Install&& install) {
    if (signal <= 0 || signal >= NSIG) return install(wanted);
    auto& handler = handlers[static_cast<std::size_t>(signal)];
    const sighandler_t before = handler.load(std::memory_order_relaxed);
    const bool replaces = is_function(wanted) && !nw::installs_in_handler_mode;
    if (replaces) handler.store(wanted, std::memory_order_relaxed);
    const sighandler_t installed = install(replaces ? ours : wanted);
    if (installed == SIG_ERR) handler.store(before, std::memory_order_relaxed);
    if (installed == SIG_IGN && replaces)
        was_ignored[static_cast<std::size_t>(signal)].store(true, std::memory_order_relaxed);
    return is_ours(installed) ? before : installed;
}

template <class Original>
sighandler_t replace_by(Original& original, int signal, sighandler_t wanted) {
    return replace(signal, wanted, enter,
                   [&](sighandler_t handler) { return original(signal, handler); });
}

}  // namespace

void nw::ignore_signals_again() noexcept {
    for (int signal = 1; signal < NSIG; ++signal)
        if (was_ignored[static_cast<std::size_t>(signal)].load(std::memory_order_relaxed))
            original_signal(signal, SIG_IGN);
}

// NW_INSTALLING(signal) defines signal(), and so on. Weak: programs in C may define functions with
// these names.
#define NW_INSTALLING(name)                                                       \
    extern "C" [[gnu::weak]] sighandler_t name(int number, sighandler_t wanted) { \
        nw::interpose::refuse_in_handler(NW_PROCESS(#name));                      \
        return replace_by(original_##name, number, wanted);                       \
    }

NW_INSTALLING(signal)
NW_INSTALLING(bsd_signal)
NW_INSTALLING(ssignal)
NW_INSTALLING(sysv_signal)
NW_INSTALLING(sigset)

extern "C" [[gnu::weak]] int sigaction(int number, const struct sigaction* wanted,
                                       struct sigaction* present) {
    if (wanted != nullptr) nw::interpose::refuse_in_handler(NW_PROCESS("sigaction"));
    struct sigaction before {};
    int result = 0;
    const bool with_details = wanted != nullptr && (wanted->sa_flags & SA_SIGINFO) != 0;
    const auto install = [&](sighandler_t handler) {
        struct sigaction action {};
        if (wanted != nullptr) {
            action = *wanted;
            action.sa_handler = handler;
        }
        result = original_sigaction(number, wanted != nullptr ? &action : nullptr, &before);
        return result == 0 ? before.sa_handler : SIG_ERR;
    };
    const sighandler_t handler = replace(number, wanted != nullptr ? wanted->sa_handler : SIG_DFL,
                                         with_details ? details_entry() : enter, install);
    if (result == 0 && present != nullptr) {
        *present = before;
        present->sa_handler = handler;
    }
    return result;
}
