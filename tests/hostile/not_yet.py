"""Kinds, or `kind when`, that do not come to what they must yet, by why. The one list of them: it is to
be empty."""

WHY = {
    "exceptions kept in the state are libc's": [
        "exception-ptr-kept", "exception-ptr-dropped", "promise-broken",
    ],
    "what the thread knows of exceptions is not reset after a jump; a stack's address is in the line": [
        "throw-in-noexcept out-of-order", "throw-in-destructor out-of-order",
        "throw-while-unwinding out-of-order", "crash-in-catch out-of-order",
        "crash-in-nested-catch out-of-order", "crash-while-unwinding out-of-order",
        "overflow-while-unwinding", "what-crashes out-of-order", "what-is-null out-of-order",
        "what-is-wild out-of-order", "what-throws out-of-order",
        "catch-copy-that-throws out-of-order", "rethrow-nothing out-of-order",
    ],
    "a handler that does not return is not interrupted": [
        "what-never-returns", "loop", "loop-allocate", "loop-containers", "loop-draw", "loop-throw",
        "loop-broken-rule", "loop-format", "loop-print", "loop-circle", "loop-search", "loop-sleep",
        "loop-pause", "loop-yield", "loop-lock", "loop-future", "loop-condition", "loop-semaphore",
        "loop-spin", "loop-pipe", "loop-poll", "loop-regex", "schedule-for-ever",
        "draw-endless-sum", "can_end-loops", "on_commit-loops in-order", "on_start-loops in-order",
        "on_end-loops in-order",
    ],
    "the exit family is not guarded": [
        "terminate-handler-exits", "throw-in-thread-exit", "exit-0", "exit-7", "underscore-exit",
        "c99-exit", "quick-exit", "pthread-exit", "pthread-exit-swallowed", "pthread-cancel",
        "can_end-exits", "on_commit-exits in-order", "on_start-exits in-order",
        "on_end-exits in-order", "constructor-exits in-order", "destructor-exits in-order",
        "setup-exits in-order", "finished-exits in-order",
    ],
    "the floating-point environment is not the same for every handler": [
        "rounding-changed", "rounding-changed-throw out-of-order", "flush-to-zero", "x87-precision",
        "traps-enabled in-order",
    ],
    "signals that are not guarded yet, or whose line names a process or address": [
        "alignment-check", "trap-flag", "breakpoint", "raise-segv in-order", "raise-bus in-order",
        "raise-fpe in-order", "raise-ill in-order", "raise-trap", "raise-sys", "raise-pipe",
        "kill-segv", "kill-abrt", "kill-trap", "kill-sys", "kill-pipe", "kill-thread in-order",
        "queue-bus in-order", "closed-pipe",
    ],
    "an address of a stack or mapping is in the line": [
        "endless-recursion in-order", "endless-recursion-function in-order",
        "alloca-too-much in-order", "beyond-end-of-file in-order",
    ],
    "signal dispositions, timers, threads and processes are not refused in handlers": [
        "default-and-crash", "own-handler-and-crash", "signal-ignored", "signals-blocked",
        "blocked-and-crash", "no-signal-stack", "alarm", "thread", "async",
        "joinable-thread", "detached-thread", "fork", "fork-and-return", "exec",
        "system", "popen", "spawn",
    ],
    "libraries' state is built in the LP's heap, or memory is still pointed to from outside": [
        "at-exit out-of-order", "global-map-grown out-of-order", "global-map-grown-crash",
        "static-crashes", "call-once-throws", "thread-local-scratch", "thread-local-scratch-crash",
        "strerror", "strerror-crash", "dlerror", "dlerror-crash", "dlopen", "dlopen-crash",
        "localtime", "localtime-crash", "tzset", "tzset-crash", "setenv", "rand",
        "newlocale", "newlocale-crash", "cpp-locale", "cpp-locale-crash", "global-locale",
        "global-locale-crash", "iconv", "iconv-crash", "getaddrinfo", "getaddrinfo-crash",
        "file-kept", "global-locale-kept",
    ],
    "the region is readable and writable from end to end, or a handler does not return": [
        "overflow-much", "underflow-much out-of-order", "read-beyond", "allocate-for-ever",
        "allocate-small-for-ever", "allocate-for-ever-crash", "find-then-erase",
        "deque-pop-for-ever", "list-erase-end in-order", "list-dead-node", "sort-without-order",
    ],
    "set-up data is not protected": [
        "write-setup-data", "write-setup-map", "shared-pointer-copied",
    ],
    "output rows are read too late": [
        "output-wild-text in-order", "output-endless-text",
    ],
    "constructors, destructors and set-up run unguarded": [
        "constructor-throws-number in-order", "constructor-crashes in-order",
        "constructor-divides in-order", "constructor-aborts in-order", "constructor-loops in-order",
        "destructor-throws in-order", "destructor-throws-number in-order",
        "destructor-crashes in-order", "destructor-divides in-order", "destructor-aborts in-order",
        "destructor-loops in-order", "setup-throws in-order", "setup-throws-number in-order",
        "setup-crashes in-order", "setup-divides in-order", "setup-aborts in-order",
        "setup-loops in-order", "finished-throws in-order", "finished-throws-number in-order",
        "finished-crashes in-order", "finished-divides in-order", "finished-aborts in-order",
        "finished-loops in-order",
    ],
}
NOT_YET = {name for names in WHY.values() for name in names}
