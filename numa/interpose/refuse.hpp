// What the functions of the interposer have in common that a handler must not call.
#pragma once

#include "numa/handler/fault_guard.hpp"
#include "numa/handler/heap_scope.hpp"
#include "numa/interpose/original.hpp"

namespace nw::interpose {

// Whether the caller is a model's handler, whose deeds may be undone. Set-up, on_commit() and the hooks
// that start libraries are not.
inline bool may_be_undone() noexcept { return current_heap != nullptr && in_handler(); }

// Does not return if it is; the event has then failed with that line.
inline void refuse_in_handler(const char* line) noexcept {
    if (may_be_undone()) abandon_handler(line);
}

}  // namespace nw::interpose

#define NW_LINE(name, why, legal) "the handler called " name "(), which " why "; allowed: " legal

#define NW_PROCESS(name) \
    NW_LINE(name, "changes the whole process", "before the run, or in on_process_start()")
#define NW_CHILD(name)                                                             \
    NW_LINE(name, "creates a process, or replaces this one, and cannot be undone", \
            "child processes before the run or in finished()")

// NW_REFUSED(int, chdir, (const char* path), (path), true, line): chdir() as libc has it, except in a
// handler where the condition holds. Weak: programs in C may define functions of some of these names.
#define NW_REFUSED(Result, name, parameters, arguments, condition, line)                \
    static constinit auto original_##name = nw::interpose::original_of(&::name, #name); \
    extern "C" [[gnu::weak]] Result name parameters {                                   \
        if (condition) nw::interpose::refuse_in_handler(line);                          \
        return original_##name.function() arguments;                                    \
    }
