// SPDX-License-Identifier: Apache-2.0
// Functions of libc that change the process, or create things that a rollback cannot remove. In a
// handler they are refused, and the event fails with one line. Outside of handlers they behave as
// in libc. Some functions change nothing if an argument is null. Such a call is allowed.
//
// rand() and similar functions are refused, too. All LPs share one generator, so the numbers, and
// with them the digest, would depend on the order of execution.
#include <aio.h>
#include <grp.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <pty.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

#include "memory/interpose/refuse.hpp"

// Some of these functions are deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// --- Random numbers ------------------------------------------------------------------------------

#define NW_RANDOM(name) NW_LINE(name, "uses one generator that all LPs share", "context.random()")

NW_REFUSED(int, rand, (), (), true, NW_RANDOM("rand"))
NW_REFUSED(void, srand, (unsigned seed), (seed), true, NW_RANDOM("srand"))
NW_REFUSED(long, random, (), (), true, NW_RANDOM("random"))
NW_REFUSED(void, srandom, (unsigned seed), (seed), true, NW_RANDOM("srandom"))
NW_REFUSED(double, drand48, (), (), true, NW_RANDOM("drand48"))
NW_REFUSED(long, lrand48, (), (), true, NW_RANDOM("lrand48"))
NW_REFUSED(long, mrand48, (), (), true, NW_RANDOM("mrand48"))
NW_REFUSED(void, srand48, (long seed), (seed), true, NW_RANDOM("srand48"))
NW_REFUSED(unsigned short*, seed48, (unsigned short* seed), (seed), true, NW_RANDOM("seed48"))
NW_REFUSED(void, lcong48, (unsigned short* parameters), (parameters), true, NW_RANDOM("lcong48"))
NW_REFUSED(char*, initstate, (unsigned seed, char* state, size_t bytes), (seed, state, bytes), true,
           NW_RANDOM("initstate"))
NW_REFUSED(char*, setstate, (char* state), (state), true, NW_RANDOM("setstate"))
NW_REFUSED(char*, strfry, (char* text), (text), true, NW_RANDOM("strfry"))

// --- The environment, folders, limits ------------------------------------------------------------

NW_REFUSED(int, setenv, (const char* name, const char* value, int replace), (name, value, replace),
           true, NW_PROCESS("setenv"))
NW_REFUSED(int, unsetenv, (const char* name), (name), true, NW_PROCESS("unsetenv"))
NW_REFUSED(int, putenv, (char* text), (text), true, NW_PROCESS("putenv"))
NW_REFUSED(int, clearenv, (), (), true, NW_PROCESS("clearenv"))
NW_REFUSED(int, chdir, (const char* path), (path), true, NW_PROCESS("chdir"))
NW_REFUSED(int, fchdir, (int file), (file), true, NW_PROCESS("fchdir"))
NW_REFUSED(mode_t, umask, (mode_t mask), (mask), true, NW_PROCESS("umask"))
NW_REFUSED(int, setrlimit, (__rlimit_resource_t what, const rlimit* limit), (what, limit), true,
           NW_PROCESS("setrlimit"))
NW_REFUSED(int, setrlimit64, (__rlimit_resource_t what, const rlimit64* limit), (what, limit), true,
           NW_PROCESS("setrlimit64"))

// --- Signals -------------------------------------------------------------------------------------

NW_REFUSED(int, sigprocmask, (int how, const sigset_t* wanted, sigset_t* present),
           (how, wanted, present), wanted != nullptr, NW_PROCESS("sigprocmask"))
NW_REFUSED(int, pthread_sigmask, (int how, const sigset_t* wanted, sigset_t* present),
           (how, wanted, present), wanted != nullptr, NW_PROCESS("pthread_sigmask"))
NW_REFUSED(int, sigaltstack, (const stack_t* wanted, stack_t* present), (wanted, present),
           wanted != nullptr, NW_PROCESS("sigaltstack"))
NW_REFUSED(int, sigignore, (int number), (number), true, NW_PROCESS("sigignore"))
NW_REFUSED(int, sighold, (int number), (number), true, NW_PROCESS("sighold"))
NW_REFUSED(int, sigrelse, (int number), (number), true, NW_PROCESS("sigrelse"))
NW_REFUSED(int, siginterrupt, (int number, int interrupts), (number, interrupts), true,
           NW_PROCESS("siginterrupt"))
NW_REFUSED(int, sigblock, (int mask), (mask), true, NW_PROCESS("sigblock"))
NW_REFUSED(int, sigsetmask, (int mask), (mask), true, NW_PROCESS("sigsetmask"))
NW_REFUSED(useconds_t, ualarm, (useconds_t first, useconds_t period), (first, period), true,
           NW_PROCESS("ualarm"))
NW_REFUSED(int, timer_create, (clockid_t clock, sigevent* event, timer_t* timer),
           (clock, event, timer), true, NW_PROCESS("timer_create"))
NW_REFUSED(unsigned, alarm, (unsigned seconds), (seconds), true, NW_PROCESS("alarm"))
NW_REFUSED(int, setitimer, (__itimer_which_t which, const itimerval* wanted, itimerval* present),
           (which, wanted, present), true, NW_PROCESS("setitimer"))

// --- Threads and processes -----------------------------------------------------------------------

NW_REFUSED(
    int, pthread_create,
    (pthread_t * thread, const pthread_attr_t* attributes, void* (*body)(void*), void* data),
    (thread, attributes, body, data), true,
    NW_LINE("pthread_create",
            "creates a thread (std::thread, std::async, OpenMP) that rollbacks do not affect",
            "threads in on_process_start() that never touch an LP, or none"))

// glibc creates a thread for each of these functions.
#define NW_OWN_THREAD(name)                                                \
    NW_LINE(name, "creates a thread in libc that rollbacks do not affect", \
            "before the run, or in on_commit()")

NW_REFUSED(int, aio_read, (aiocb * request), (request), true, NW_OWN_THREAD("aio_read"))
NW_REFUSED(int, aio_read64, (aiocb64 * request), (request), true, NW_OWN_THREAD("aio_read64"))
NW_REFUSED(int, aio_write, (aiocb * request), (request), true, NW_OWN_THREAD("aio_write"))
NW_REFUSED(int, aio_write64, (aiocb64 * request), (request), true, NW_OWN_THREAD("aio_write64"))
NW_REFUSED(int, aio_fsync, (int how, aiocb* request), (how, request), true,
           NW_OWN_THREAD("aio_fsync"))
NW_REFUSED(int, aio_fsync64, (int how, aiocb64* request), (how, request), true,
           NW_OWN_THREAD("aio_fsync64"))
NW_REFUSED(int, lio_listio, (int mode, aiocb* const* requests, int count, sigevent* event),
           (mode, requests, count, event), true, NW_OWN_THREAD("lio_listio"))
NW_REFUSED(int, lio_listio64, (int mode, aiocb64* const* requests, int count, sigevent* event),
           (mode, requests, count, event), true, NW_OWN_THREAD("lio_listio64"))
NW_REFUSED(int, getaddrinfo_a, (int mode, gaicb* requests[], int count, sigevent* event),
           (mode, requests, count, event), true, NW_OWN_THREAD("getaddrinfo_a"))
NW_REFUSED(int, mq_notify, (mqd_t queue, const sigevent* event), (queue, event), true,
           NW_OWN_THREAD("mq_notify"))
NW_REFUSED(int, thrd_create, (thrd_t * thread, thrd_start_t body, void* data), (thread, body, data),
           true, NW_OWN_THREAD("thrd_create"))

NW_REFUSED(pid_t, fork, (), (), true, NW_CHILD("fork"))
NW_REFUSED(pid_t, _Fork, (), (), true, NW_CHILD("_Fork"))
NW_REFUSED(int, execveat,
           (int folder, const char* path, char* const* arguments, char* const* environment,
            int flags),
           (folder, path, arguments, environment, flags), true, NW_CHILD("execveat"))
NW_REFUSED(int, forkpty, (int* file, char* name, const termios* terminal, const winsize* window),
           (file, name, terminal, window), true, NW_CHILD("forkpty"))
NW_REFUSED(int, wordexp, (const char* words, wordexp_t* result, int flags), (words, result, flags),
           true, NW_CHILD("wordexp"))
NW_REFUSED(int, system, (const char* command), (command), command != nullptr, NW_CHILD("system"))
NW_REFUSED(int, daemon, (int keep_folder, int keep_files), (keep_folder, keep_files), true,
           NW_CHILD("daemon"))
NW_REFUSED(int, posix_spawn,
           (pid_t * id, const char* path, const posix_spawn_file_actions_t* actions,
            const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
           (id, path, actions, attributes, arguments, environment), true, NW_CHILD("posix_spawn"))
NW_REFUSED(int, posix_spawnp,
           (pid_t * id, const char* file, const posix_spawn_file_actions_t* actions,
            const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
           (id, file, actions, attributes, arguments, environment), true, NW_CHILD("posix_spawnp"))
#if __GLIBC_PREREQ(2, 39)
NW_REFUSED(int, pidfd_spawn,
           (int* id, const char* path, const posix_spawn_file_actions_t* actions,
            const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
           (id, path, actions, attributes, arguments, environment), true, NW_CHILD("pidfd_spawn"))
NW_REFUSED(int, pidfd_spawnp,
           (int* id, const char* file, const posix_spawn_file_actions_t* actions,
            const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
           (id, file, actions, attributes, arguments, environment), true, NW_CHILD("pidfd_spawnp"))
#endif
NW_REFUSED(int, execve, (const char* path, char* const* arguments, char* const* environment),
           (path, arguments, environment), true, NW_CHILD("execve"))
NW_REFUSED(int, execv, (const char* path, char* const* arguments), (path, arguments), true,
           NW_CHILD("execv"))
NW_REFUSED(int, execvp, (const char* file, char* const* arguments), (file, arguments), true,
           NW_CHILD("execvp"))
NW_REFUSED(int, execvpe, (const char* file, char* const* arguments, char* const* environment),
           (file, arguments, environment), true, NW_CHILD("execvpe"))
NW_REFUSED(int, fexecve, (int file, char* const* arguments, char* const* environment),
           (file, arguments, environment), true, NW_CHILD("fexecve"))

// Finds these functions now. A signal handler may call them, and must not call dlsym.
[[maybe_unused]] static const bool signals_are_known =
    (original_pthread_sigmask.function(), original_sigprocmask.function(),
     original_sighold.function(), original_sigrelse.function(), original_sigignore.function(),
     original_setitimer.function(), original_alarm.function(), original_ualarm.function(),
     original_fork.function(), true);

namespace {

// The arguments of execl and similar functions as an array, up to and including the null at the
// end.
constexpr std::size_t arguments_max = 1024;
struct Arguments {
    char* words[arguments_max];

    // Returns false if there are too many arguments.
    bool take(const char* first, va_list& rest) noexcept {
        words[0] = const_cast<char*>(first);
        std::size_t count = 0;
        while (words[count] != nullptr) {
            if (++count == arguments_max) return false;
            words[count] = va_arg(rest, char*);
        }
        return true;
    }
};

int too_many() noexcept {
    errno = E2BIG;
    return -1;
}

}  // namespace

extern "C" {

static constinit nw::interpose::Original<int, int (*)(void*), void*, int, void*, void*, void*,
                                         void*>
    original_clone("clone");

// The caller may have passed fewer than three more arguments. In this case clone() does not read
// the missing arguments.
[[gnu::weak]] int clone(int (*body)(void*), void* stack, int flags, void* data, ...) noexcept {
    nw::interpose::refuse_in_handler(NW_CHILD("clone"));
    va_list rest;
    va_start(rest, data);
    void* const parent = va_arg(rest, void*);
    void* const storage = va_arg(rest, void*);
    void* const child = va_arg(rest, void*);
    va_end(rest);
    return original_clone(body, stack, flags, data, parent, storage, child);
}

// vfork() cannot be called in a wrapper, because the child would return from the wrapper. POSIX
// allows fork() in its place.
pid_t vfork() {
    nw::interpose::refuse_in_handler(NW_CHILD("vfork"));
    return original_fork();
}

int execl(const char* path, const char* first, ...) {
    nw::interpose::refuse_in_handler(NW_CHILD("execl"));
    va_list rest;
    va_start(rest, first);
    Arguments arguments;
    const bool fits = arguments.take(first, rest);
    va_end(rest);
    return fits ? original_execv(path, arguments.words) : too_many();
}

int execlp(const char* file, const char* first, ...) {
    nw::interpose::refuse_in_handler(NW_CHILD("execlp"));
    va_list rest;
    va_start(rest, first);
    Arguments arguments;
    const bool fits = arguments.take(first, rest);
    va_end(rest);
    return fits ? original_execvp(file, arguments.words) : too_many();
}

int execle(const char* path, const char* first, ...) {
    nw::interpose::refuse_in_handler(NW_CHILD("execle"));
    va_list rest;
    va_start(rest, first);
    Arguments arguments;
    const bool fits = arguments.take(first, rest);
    char* const* const environment = fits ? va_arg(rest, char**) : nullptr;
    va_end(rest);
    return fits ? original_execve(path, arguments.words, environment) : too_many();
}

}  // extern "C"
