"""Kinds, or `kind when`, that do not come to what they must yet, by why. The one list of them: it is to
be empty."""

WHY = {
    "exceptions kept in the state are libc's": [
        "exception-ptr-kept", "exception-ptr-dropped", "promise-broken",
    ],
    "a handler that does not return is not interrupted": [
        "loop-print",
    ],
    "the exit family is not guarded": [
        "pthread-cancel",
    ],
    "signal dispositions, timers, threads and processes are not refused in handlers": [
        "default-and-crash", "own-handler-and-crash", "signal-ignored", "signals-blocked",
        "blocked-and-crash", "no-signal-stack", "alarm", "thread", "async",
        "joinable-thread out-of-order", "detached-thread", "fork", "fork-and-return", "exec",
        "system", "popen", "spawn",
    ],
    "libraries' state is built in the LP's heap, or memory is still pointed to from outside": [
        "at-exit out-of-order", "global-map-grown out-of-order", "global-map-grown-crash",
        "static-crashes", "call-once-throws", "thread-local-scratch in-order",
        "strerror", "strerror-crash", "dlerror", "dlerror-crash", "dlopen", "dlopen-crash",
        "localtime", "localtime-crash", "tzset", "tzset-crash", "setenv", "rand", "newlocale",
        "newlocale-crash", "cpp-locale", "cpp-locale-crash", "global-locale", "setlocale", "iconv",
        "iconv-crash", "getaddrinfo", "getaddrinfo-crash", "file-kept", "file-crash",
        "global-locale-kept",
    ],
    "an allocation without end takes more than the cap, or too long": [
        "allocate-for-ever in-order", "allocate-small-for-ever in-order",
        "allocate-for-ever-crash",
    ],
    "output rows are read too late": [
        "output-wild-text in-order", "output-endless-text",
    ],
}
NOT_YET = {name for names in WHY.values() for name in names}
