// SPDX-License-Identifier: Apache-2.0
// Signals that a handler sends to its own process or thread, and signal dispositions that it
// changes.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "kind.hpp"

namespace hostile {
namespace {

template <int number>
void raise_signal(Scene&) {
    ::raise(number);
}

template <int number>
void kill_itself(Scene&) {
    ::kill(::getpid(), number);
    // Any thread of the process may receive the signal. Meanwhile, the thread that sent the signal
    // waits here.
    for (int i = 0; i < 1000; ++i) ::usleep(1);
}

void kill_thread(Scene&) { ::syscall(SYS_tgkill, ::getpid(), ::gettid(), SIGSEGV); }

void queue_signal(Scene&) {
    sigval value{};
    value.sival_int = 7;
    ::pthread_sigqueue(::pthread_self(), SIGBUS, value);
}

void write_to_closed_pipe(Scene&) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    ::close(ends[0]);
    const auto written = ::write(ends[1], "x", 1);
    hidden(written);
    ::close(ends[1]);
}

void restore_default_and_crash(Scene&) {
    std::signal(SIGSEGV, SIG_DFL);
    crash();
}

void own_handler(int) { ::_exit(99); }

void install_handler_and_crash(Scene&) {
    struct sigaction action {};
    action.sa_handler = own_handler;
    ::sigaction(SIGSEGV, &action, nullptr);
    crash();
}

void ignore_signal(Scene&) { std::signal(SIGFPE, SIG_IGN); }

void block_and_crash(Scene&) {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    crash();
}

void block_signals(Scene&) {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

[[gnu::noinline]] int descend(volatile int* depth) {
    volatile int here[64] = {};
    *depth = *depth + 1;
    here[*depth % 64] = *depth;
    return *depth > 0 ? descend(depth) + here[0] : 0;
}

void disable_signal_stack_and_overflow(Scene&) {
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    ::sigaltstack(&off, nullptr);
    volatile int depth = 0;
    descend(&depth);
}

void set_alarm(Scene&) {
    itimerval soon{};
    soon.it_value.tv_usec = 1000;
    ::setitimer(ITIMER_REAL, &soon, nullptr);
}

constexpr Kind table[] = {
    {"raise-segv", "raises SIGSEGV", "SIGSEGV", raise_signal<SIGSEGV>},
    {"raise-bus", "raises SIGBUS", "SIGBUS", raise_signal<SIGBUS>},
    {"raise-fpe", "raises SIGFPE", "SIGFPE", raise_signal<SIGFPE>},
    {"raise-ill", "raises SIGILL", "SIGILL", raise_signal<SIGILL>},
    {"raise-abrt", "raises SIGABRT", "SIGABRT", raise_signal<SIGABRT>},
    {"raise-trap", "raises SIGTRAP", "SIGTRAP", raise_signal<SIGTRAP>},
    {"raise-sys", "raises SIGSYS", "SIGSYS", raise_signal<SIGSYS>},
    {"raise-pipe", "raises SIGPIPE", "SIGPIPE", raise_signal<SIGPIPE>},
    {"kill-segv", "sends SIGSEGV to its own process", "SIGSEGV", kill_itself<SIGSEGV>},
    {"kill-abrt", "sends SIGABRT to its own process", "SIGABRT", kill_itself<SIGABRT>},
    {"kill-trap", "sends SIGTRAP to its own process", "SIGTRAP", kill_itself<SIGTRAP>},
    {"kill-sys", "sends SIGSYS to its own process", "SIGSYS", kill_itself<SIGSYS>},
    {"kill-pipe", "sends SIGPIPE to its own process", "SIGPIPE", kill_itself<SIGPIPE>},
    {"kill-thread", "sends SIGSEGV to its own thread", "SIGSEGV", kill_thread},
    {"queue-bus", "queues SIGBUS for its own thread", "SIGBUS", queue_signal},
    {"closed-pipe", "writes into a pipe without a reader", "SIGPIPE", write_to_closed_pipe},
    {"default-and-crash", "restores the default action of SIGSEGV and crashes", "",
     restore_default_and_crash},
    {"own-handler-and-crash", "installs its own signal handler and crashes", "",
     install_handler_and_crash},
    {"signal-ignored", "ignores SIGFPE", "", ignore_signal},
    {"signals-blocked", "blocks all signals of its thread", "", block_signals},
    {"blocked-and-crash", "blocks all signals of its thread and crashes", "", block_and_crash},
    {"no-signal-stack", "disables its thread's signal stack and runs out of stack", "",
     disable_signal_stack_and_overflow},
    {"alarm", "sets a timer whose signal ends the process", "", set_alarm},
};

}  // namespace

std::span<const Kind> signals() { return table; }

}  // namespace hostile
