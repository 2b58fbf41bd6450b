// SPDX-License-Identifier: Apache-2.0
// Ways to end the process or its thread, and ways to start other threads and processes.
#include <err.h>
#include <error.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <thread>

#include "kind.hpp"

namespace hostile {
namespace {

void call_abort(Scene&) { std::abort(); }
void fail_assertion(Scene&) { assert(hidden(1) == 2); }
void end_by_err(Scene&) { ::err(3, "no more"); }
void end_by_errx(Scene&) { ::errx(3, "no more"); }
void end_by_error(Scene&) { ::error(4, 0, "no more"); }

void call_terminate(Scene&) { std::terminate(); }
void exit_well(Scene&) { std::exit(0); }
void exit_badly(Scene&) { std::exit(7); }
void exit_at_once(Scene&) { ::_exit(8); }
void exit_by_c99(Scene&) { std::_Exit(6); }
void exit_quickly(Scene&) { std::quick_exit(5); }
void exit_thread(Scene&) { pthread_exit(nullptr); }

void exit_thread_and_swallow(Scene&) {
    try {
        pthread_exit(nullptr);
    } catch (...) {
    }
}

void cancel_itself(Scene&) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

void register_at_exit(Scene&) {
    std::atexit([] { std::fputs("at exit\n", stdout); });
}

void make_thread(Scene&) {
    int sum = 0;
    std::thread([&sum] { sum = 7; }).join();
    hidden(sum);
}

void make_async(Scene&) {
    hidden(std::async(std::launch::async, [] { return 7; }).get());
}

void destroy_joinable_thread(Scene&) {
    const std::thread thread([] {});
}

void detach_thread(Scene&) {
    std::thread([] { ::usleep(100); }).detach();
}

void fork_child(Scene&) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child > 0) ::waitpid(child, nullptr, 0);
}

void fork_and_return(Scene&) { hidden(::fork()); }

void execute_program(Scene&) { ::execl("/bin/true", "true", static_cast<char*>(nullptr)); }

void run_command(Scene&) { hidden(std::system("exit 3")); }

void open_command(Scene&) {
    if (std::FILE* const pipe = ::popen("echo 5", "r")) {
        hidden(std::fgetc(pipe));
        ::pclose(pipe);
    }
}

void spawn_program(Scene&) {
    char name[] = "true";
    char* arguments[] = {name, nullptr};
    pid_t child = 0;
    if (::posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, nullptr) == 0)
        ::waitpid(child, nullptr, 0);
}

constexpr Kind table[] = {
    {"abort", "calls abort()", "SIGABRT", call_abort},
    {"assertion", "has a failed assertion", "SIGABRT", fail_assertion, talks},
    {"terminate", "calls std::terminate()", "SIGABRT", call_terminate, talks},
    {"exit-0", "calls exit(0)", "exit(0)", exit_well},
    {"exit-7", "calls exit(7)", "exit(7)", exit_badly},
    {"underscore-exit", "calls _exit(8)", "_exit(8)", exit_at_once},
    {"c99-exit", "calls _Exit(6)", "xit(6)", exit_by_c99},
    {"quick-exit", "calls quick_exit(5)", "quick_exit(5)", exit_quickly},
    {"err", "calls err(3)", "err(3)", end_by_err},
    {"errx", "calls errx(3)", "errx(3)", end_by_errx},
    {"error", "calls error(4)", "error(4)", end_by_error},
    {"pthread-exit", "calls pthread_exit()", "pthread_exit", exit_thread},
    {"pthread-exit-swallowed", "calls pthread_exit() and catches its exception", "pthread_exit",
     exit_thread_and_swallow, talks},
    {"pthread-cancel", "cancels its own thread", "", cancel_itself},
    {"at-exit", "registers a function for the end of the program", nullptr, register_at_exit},
    {"thread", "makes a thread and joins it", "", make_thread},
    {"async", "starts a std::async", "", make_async},
    {"joinable-thread", "destroys a thread that was not joined", "", destroy_joinable_thread,
     talks},
    {"detached-thread", "makes a thread and detaches it", "", detach_thread},
    {"fork", "forks a process that ends at once", "", fork_child},
    {"fork-and-return", "forks a process that returns from the handler", "", fork_and_return},
    {"exec", "becomes another program", "", execute_program},
    {"system", "runs a command", "", run_command},
    {"popen", "runs a command and reads its output", "", open_command},
    {"spawn", "starts another program", "", spawn_program},
};

}  // namespace

std::span<const Kind> endings() { return table; }

}  // namespace hostile
