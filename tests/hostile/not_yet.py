"""Kinds, or `kind when`, that do not come to what they must yet, by why. The one list of them: it is to
be empty."""

WHY = {
    "sigaltstack() is not refused in handlers": ["no-signal-stack"],
    "small allocations without end take more than the cap, or too long": [
        "allocate-for-ever", "allocate-small-for-ever",
        "allocate-for-ever-crash",
    ],
    "memory that a thread-local keeps is named, and the run ends well": [
        "thread-local-scratch",
    ],
    "the kind counts outside its LP, and is not repeatable": ["schedule-much"],
    "a handler that sleeps is left late, and may pass the limit of 10 s": [
        "loop-pause", "loop-sleep", "loop-print",
    ],
    "dlerror() is null after a failed dlopen() in a handler": ["dlerror", "dlerror-crash"],
}
NOT_YET = {name for names in WHY.values() for name in names}
