// SPDX-License-Identifier: Apache-2.0
// Calls of the libc functions that a handler must not call. The arguments are not valid, because a
// refused function does not read its arguments.
#define _REGEX_RE_COMP  // for re_comp() and re_exec()

#include <aio.h>
#include <aliases.h>
#include <argp.h>
#include <err.h>
#include <error.h>
#include <fcntl.h>
#include <fmtmsg.h>
#include <fstab.h>
#include <fts.h>
#include <ftw.h>
#include <getopt.h>
#include <grp.h>
#include <gshadow.h>
#include <libintl.h>
#include <math.h>
#include <mcheck.h>
#include <mqueue.h>
#include <netdb.h>
#include <printf.h>
#include <pthread.h>
#include <pty.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <rpc/netdb.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <shadow.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <syslog.h>
#include <threads.h>
#include <ttyent.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>
#include <wordexp.h>

#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <type_traits>

#include "tests/support/libc_calls.hpp"

// Some of the functions are deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Current headers do not declare these functions any more.
extern "C" sighandler_t bsd_signal(int, sighandler_t);
extern "C" void setkey(const char*);
extern "C" void encrypt(char*, int);

namespace nw::test {
namespace {

alignas(16) char bytes[4096];

template <class T>
T any() {
    if constexpr (std::is_pointer_v<T>) {
        if constexpr (std::is_function_v<std::remove_pointer_t<T>>)
            return reinterpret_cast<T>(&std::abort);
        else
            return reinterpret_cast<T>(bytes);
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        return static_cast<T>(1);
    } else {
        return T{};
    }
}

template <class Result, class... Arguments>
void call_with_any(Result (*function)(Arguments...)) {
    static_cast<void>(function(any<Arguments>()...));
}

void call_verr(void (*function)(int, const char*, va_list), ...) {
    va_list rest;
    va_start(rest, function);
    function(1, "", rest);
    va_end(rest);
}

int leave_at_once(void*) { return 0; }

#define NW_CALL(name)                         \
    {                                         \
#name, [] { call_with_any(&::name); } \
    }

constexpr RefusedCall refused[] = {
    // refused.cpp
    NW_CALL(rand),
    NW_CALL(srand),
    NW_CALL(random),
    NW_CALL(srandom),
    NW_CALL(drand48),
    NW_CALL(lrand48),
    NW_CALL(mrand48),
    NW_CALL(srand48),
    NW_CALL(seed48),
    NW_CALL(lcong48),
    NW_CALL(initstate),
    NW_CALL(setstate),
    NW_CALL(strfry),
    NW_CALL(setenv),
    NW_CALL(unsetenv),
    NW_CALL(putenv),
    NW_CALL(clearenv),
    NW_CALL(chdir),
    NW_CALL(fchdir),
    NW_CALL(umask),
    NW_CALL(setrlimit),
    NW_CALL(setrlimit64),
    NW_CALL(signal),
    NW_CALL(sigaction),
    NW_CALL(sigprocmask),
    NW_CALL(pthread_sigmask),
    NW_CALL(sigaltstack),
    NW_CALL(ssignal),
    NW_CALL(bsd_signal),
    NW_CALL(sysv_signal),
    NW_CALL(sigset),
    NW_CALL(sigignore),
    NW_CALL(sighold),
    NW_CALL(sigrelse),
    NW_CALL(siginterrupt),
    NW_CALL(sigblock),
    NW_CALL(sigsetmask),
    NW_CALL(alarm),
    NW_CALL(ualarm),
    NW_CALL(setitimer),
    NW_CALL(timer_create),
    NW_CALL(pthread_create),
    NW_CALL(thrd_create),
    NW_CALL(aio_read),
    NW_CALL(aio_read64),
    NW_CALL(aio_write),
    NW_CALL(aio_write64),
    NW_CALL(aio_fsync),
    NW_CALL(aio_fsync64),
    NW_CALL(lio_listio),
    NW_CALL(lio_listio64),
    NW_CALL(getaddrinfo_a),
    NW_CALL(mq_notify),
    NW_CALL(fork),
    NW_CALL(_Fork),
    NW_CALL(vfork),
    NW_CALL(forkpty),
    NW_CALL(daemon),
    NW_CALL(system),
    NW_CALL(popen),
    NW_CALL(wordexp),
    NW_CALL(posix_spawn),
    NW_CALL(posix_spawnp),
#if __GLIBC_PREREQ(2, 39)
    NW_CALL(pidfd_spawn),
    NW_CALL(pidfd_spawnp),
#endif
    NW_CALL(execve),
    NW_CALL(execv),
    NW_CALL(execvp),
    NW_CALL(execvpe),
    NW_CALL(execveat),
    NW_CALL(fexecve),
    {"execl", [] { ::execl("/nowhere", "", nullptr); }},
    {"execlp", [] { ::execlp("/nowhere", "", nullptr); }},
    {"execle", [] { ::execle("/nowhere", "", nullptr, nullptr); }},
    {"clone", [] { ::clone(leave_at_once, bytes + sizeof bytes, SIGCHLD, nullptr); }},
    // endings.cpp
    NW_CALL(exit),
    NW_CALL(_exit),
    NW_CALL(_Exit),
    NW_CALL(quick_exit),
    NW_CALL(pthread_exit),
    NW_CALL(thrd_exit),
    {"err", [] { ::err(1, " "); }},
    {"errx", [] { ::errx(1, " "); }},
    {"verr", [] { call_verr(&::verr); }},
    {"verrx", [] { call_verr(&::verrx); }},
    {"error", [] { ::error(1, 0, " "); }},
    {"error_at_line", [] { ::error_at_line(1, 0, "", 1, " "); }},
    NW_CALL(raise),
    NW_CALL(gsignal),
    {"kill", [] { ::kill(::getpid(), SIGURG); }},
    {"killpg", [] { ::killpg(0, SIGURG); }},
    {"pthread_kill", [] { ::pthread_kill(::pthread_self(), SIGURG); }},
    {"pthread_sigqueue", [] { ::pthread_sigqueue(::pthread_self(), SIGURG, {}); }},
    {"pthread_cancel", [] { ::pthread_cancel(::pthread_self()); }},
    {"tgkill", [] { ::tgkill(::getpid(), ::gettid(), SIGURG); }},
    {"sigqueue", [] { ::sigqueue(::getpid(), SIGURG, {}); }},
    // locales.cpp, resources.cpp
    NW_CALL(setlocale),
    NW_CALL(freopen),
    NW_CALL(freopen64),
    // process_tables.cpp
    NW_CALL(setpwent),
    NW_CALL(getpwent),
    NW_CALL(getpwent_r),
    NW_CALL(endpwent),
    NW_CALL(setgrent),
    NW_CALL(getgrent),
    NW_CALL(getgrent_r),
    NW_CALL(endgrent),
    NW_CALL(setspent),
    NW_CALL(getspent),
    NW_CALL(getspent_r),
    NW_CALL(endspent),
    NW_CALL(setsgent),
    NW_CALL(getsgent),
    NW_CALL(getsgent_r),
    NW_CALL(endsgent),
    NW_CALL(setaliasent),
    NW_CALL(getaliasent),
    NW_CALL(getaliasent_r),
    NW_CALL(endaliasent),
    NW_CALL(setservent),
    NW_CALL(getservent),
    NW_CALL(getservent_r),
    NW_CALL(endservent),
    NW_CALL(setprotoent),
    NW_CALL(getprotoent),
    NW_CALL(getprotoent_r),
    NW_CALL(endprotoent),
    NW_CALL(setrpcent),
    NW_CALL(getrpcent),
    NW_CALL(getrpcent_r),
    NW_CALL(endrpcent),
    NW_CALL(sethostent),
    NW_CALL(gethostent),
    NW_CALL(gethostent_r),
    NW_CALL(endhostent),
    NW_CALL(setnetent),
    NW_CALL(getnetent),
    NW_CALL(getnetent_r),
    NW_CALL(endnetent),
    NW_CALL(setnetgrent),
    NW_CALL(getnetgrent),
    NW_CALL(getnetgrent_r),
    NW_CALL(endnetgrent),
    NW_CALL(setfsent),
    NW_CALL(getfsent),
    NW_CALL(getfsspec),
    NW_CALL(getfsfile),
    NW_CALL(endfsent),
    NW_CALL(setttyent),
    NW_CALL(getttyent),
    NW_CALL(getttynam),
    NW_CALL(endttyent),
    NW_CALL(ttyslot),
    NW_CALL(setusershell),
    NW_CALL(getusershell),
    NW_CALL(endusershell),
    NW_CALL(setutent),
    NW_CALL(getutent),
    NW_CALL(getutent_r),
    NW_CALL(getutid),
    NW_CALL(getutid_r),
    NW_CALL(getutline),
    NW_CALL(getutline_r),
    NW_CALL(pututline),
    NW_CALL(endutent),
    NW_CALL(utmpname),
    NW_CALL(setutxent),
    NW_CALL(getutxent),
    NW_CALL(getutxid),
    NW_CALL(getutxline),
    NW_CALL(pututxline),
    NW_CALL(endutxent),
    NW_CALL(utmpxname),
    NW_CALL(login),
    NW_CALL(logout),
    NW_CALL(logwtmp),
    NW_CALL(crypt),
    NW_CALL(setkey),
    NW_CALL(encrypt),
    NW_CALL(hcreate),
    NW_CALL(hsearch),
    NW_CALL(hdestroy),
    NW_CALL(getdate),
    NW_CALL(re_comp),
    NW_CALL(re_exec),
    NW_CALL(re_set_syntax),
    NW_CALL(rpmatch),
    NW_CALL(getopt),
    NW_CALL(getopt_long),
    NW_CALL(getopt_long_only),
    NW_CALL(argp_parse),
    NW_CALL(getpass),
    NW_CALL(textdomain),
    NW_CALL(bindtextdomain),
    NW_CALL(bind_textdomain_codeset),
    NW_CALL(openlog),
    NW_CALL(closelog),
    NW_CALL(setlogmask),
    NW_CALL(fcloseall),
    NW_CALL(addseverity),
    NW_CALL(register_printf_function),
    NW_CALL(register_printf_specifier),
    NW_CALL(register_printf_modifier),
    NW_CALL(register_printf_type),
    NW_CALL(mtrace),
    NW_CALL(muntrace),
    NW_CALL(fts_open),
    NW_CALL(fts64_open),
    {"nftw", [] { ::nftw("/nowhere", any<__nftw_func_t>(), 1, FTW_CHDIR); }},
    {"nftw64", [] { ::nftw64("/nowhere", any<__nftw64_func_t>(), 1, FTW_CHDIR); }},
    {"sem_open", [] { ::sem_open("/nowhere", 0); }},
    NW_CALL(sem_close),
    NW_CALL(rcmd),
    NW_CALL(rcmd_af),
    NW_CALL(rexec),
    NW_CALL(rexec_af),
    NW_CALL(ruserok),
    NW_CALL(ruserok_af),
    NW_CALL(res_query),
    NW_CALL(res_nquery),
    NW_CALL(res_search),
    NW_CALL(res_nsearch),
    NW_CALL(res_querydomain),
    NW_CALL(res_nquerydomain),
    NW_CALL(res_mkquery),
    NW_CALL(res_nmkquery),
    NW_CALL(res_send),
    NW_CALL(res_nsend),
};

}  // namespace

std::span<const RefusedCall> refused_calls() { return refused; }

}  // namespace nw::test
