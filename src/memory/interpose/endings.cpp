// SPDX-License-Identifier: Apache-2.0
// Functions that end a program, or send it a signal. In a handler they end the handler, like a
// crash. If the event is executed out of order, it is undone. If it is executed in order, the run
// ends with exit code 3 and a line that names the called function.
//
// Outside of handlers, each function behaves as in libc. A call of exit() or abort() inside the C
// library does not reach this file. So this file also defines each function of the library that
// makes such a call and that a model can call. A signal that a handler raises for itself is
// refused, independent of the action that is installed for the signal, because a signal handler
// would run outside of the LP.
#include <err.h>
#include <errno.h>
#include <error.h>
#include <pthread.h>
#include <signal.h>
#include <threads.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory/handler/fault_guard.hpp"
#include "memory/interpose/original.hpp"

namespace {

using nw::interpose::Original;

constinit Original<void, int> exit_original("exit");
constinit Original<void, int> exit_at_once("_exit");
constinit Original<void, int> quick_exit_original("quick_exit");
constinit Original<void, void*> pthread_exit_original("pthread_exit");
constinit Original<void, int> thrd_exit_original("thrd_exit");
constinit Original<int, int> raise_original("raise");
constinit Original<int, int> gsignal_original("gsignal");
constinit Original<int, pthread_t, int, sigval> pthread_sigqueue_original("pthread_sigqueue");
constinit Original<int, pid_t, int> kill_original("kill");
constinit Original<int, int, int> killpg_original("killpg");
constinit Original<int, pthread_t> pthread_cancel_original("pthread_cancel");
constinit Original<int, pthread_t, int> pthread_kill_original("pthread_kill");
constinit Original<int, pid_t, pid_t, int> tgkill_original("tgkill");
constinit Original<int, pid_t, int, sigval> sigqueue_original("sigqueue");

constinit auto original_verr = nw::interpose::original_of(&::verr, "verr");
constinit auto original_verrx = nw::interpose::original_of(&::verrx, "verrx");

[[noreturn, gnu::cold]] void refuse(const char* function, int code) noexcept {
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "a call of %s(%d), which would end the program",
                  function, code);
    nw::abandon_handler(line.data());
}

[[noreturn, gnu::cold]] void refuse_signal(int signal) noexcept {
    std::array<char, 96> line{};
    const char* const name = sigabbrev_np(signal);
    if (name != nullptr)
        std::snprintf(line.data(), line.size(), "SIG%s: raised by the handler itself", name);
    else
        std::snprintf(line.data(), line.size(), "signal %d: raised by the handler itself", signal);
    nw::abandon_handler(line.data());
}

// Prints the message of error() and error_at_line(), which cannot be called with a va_list.
void print_error(int code, const char* file, unsigned line, const char* format,
                 va_list rest) noexcept {
    std::fflush(stdout);
    if (error_print_progname != nullptr)
        error_print_progname();
    else
        std::fprintf(stderr, "%s:", program_invocation_name);
    if (file != nullptr) std::fprintf(stderr, "%s:%u:", file, line);
    std::fputc(' ', stderr);
    std::vfprintf(stderr, format, rest);
    if (code != 0) std::fprintf(stderr, ": %s", std::strerror(code));
    std::fputc('\n', stderr);
    ++error_message_count;
}

// True if the caller is a handler, and the signal would be sent to this process.
bool meets_itself(pid_t process, int signal) noexcept {
    return signal != 0 && nw::in_handler() && (process <= 0 || process == ::getpid());
}

}  // namespace

extern "C" {

void exit(int code) {
    if (nw::in_handler()) refuse("exit", code);
    exit_original(code);
    std::abort();
}

void _exit(int code) {
    if (nw::in_handler()) refuse("_exit", code);
    exit_at_once(code);
    std::abort();
}

void _Exit(int code) noexcept {
    if (nw::in_handler()) refuse("_Exit", code);
    exit_at_once(code);
    std::abort();
}

void quick_exit(int code) noexcept {
    if (nw::in_handler()) refuse("quick_exit", code);
    quick_exit_original(code);
    std::abort();
}

// These functions print a message and then call exit() inside libc, which does not reach exit()
// above. They are weak because programs in C often define functions with these names.
[[gnu::weak]] void verr(int code, const char* format, va_list rest) {
    if (nw::in_handler()) refuse("verr", code);
    original_verr(code, format, rest);
    std::abort();
}

[[gnu::weak]] void verrx(int code, const char* format, va_list rest) {
    if (nw::in_handler()) refuse("verrx", code);
    original_verrx(code, format, rest);
    std::abort();
}

[[gnu::weak]] void err(int code, const char* format, ...) {
    if (nw::in_handler()) refuse("err", code);
    va_list rest;
    va_start(rest, format);
    verr(code, format, rest);
}

[[gnu::weak]] void errx(int code, const char* format, ...) {
    if (nw::in_handler()) refuse("errx", code);
    va_list rest;
    va_start(rest, format);
    verrx(code, format, rest);
}

[[gnu::weak]] void error(int status, int code, const char* format, ...) {
    if (status != 0 && nw::in_handler()) refuse("error", status);
    va_list rest;
    va_start(rest, format);
    print_error(code, nullptr, 0, format, rest);
    va_end(rest);
    if (status != 0) exit(status);
}

[[gnu::weak]] void error_at_line(int status, int code, const char* file, unsigned line,
                                 const char* format, ...) {
    if (status != 0 && nw::in_handler()) refuse("error_at_line", status);
    va_list rest;
    va_start(rest, format);
    print_error(code, file, line, format, rest);
    va_end(rest);
    if (status != 0) exit(status);
}

void pthread_exit(void* result) {
    if (nw::in_handler())
        nw::abandon_handler("a call of pthread_exit(), which would end the worker's thread");
    pthread_exit_original(result);
    std::abort();
}

void thrd_exit(int result) {
    if (nw::in_handler())
        nw::abandon_handler("a call of thrd_exit(), which would end the worker's thread");
    thrd_exit_original(result);
    std::abort();
}

int raise(int signal) noexcept {
    if (nw::in_handler() && signal != 0) refuse_signal(signal);
    return raise_original(signal);
}

int gsignal(int signal) noexcept {
    if (nw::in_handler() && signal != 0) refuse_signal(signal);
    return gsignal_original(signal);
}

int kill(pid_t process, int signal) noexcept {
    if (meets_itself(process, signal)) refuse_signal(signal);
    return kill_original(process, signal);
}

int killpg(pid_t group, int signal) noexcept {
    if (meets_itself(0, signal)) refuse_signal(signal);
    return killpg_original(group, signal);
}

int pthread_cancel(pthread_t thread) {
    if (nw::in_handler()) nw::abandon_handler("a call of pthread_cancel(), which ends a thread");
    return pthread_cancel_original(thread);
}

int pthread_kill(pthread_t thread, int signal) noexcept {
    if (nw::in_handler() && signal != 0) refuse_signal(signal);
    return pthread_kill_original(thread, signal);
}

int pthread_sigqueue(pthread_t thread, int signal, const sigval value) noexcept {
    if (nw::in_handler() && signal != 0) refuse_signal(signal);
    return pthread_sigqueue_original(thread, signal, value);
}

int tgkill(pid_t process, pid_t thread, int signal) {
    if (meets_itself(process, signal)) refuse_signal(signal);
    return tgkill_original(process, thread, signal);
}

int sigqueue(pid_t process, int signal, const sigval value) noexcept {
    if (meets_itself(process, signal)) refuse_signal(signal);
    return sigqueue_original(process, signal, value);
}

}  // extern "C"
