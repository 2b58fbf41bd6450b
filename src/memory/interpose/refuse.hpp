// SPDX-License-Identifier: Apache-2.0
// Common parts of functions that a handler must not call.
#pragma once

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/interpose/original.hpp"

namespace nw::interpose {

// True if the caller is a model's handler whose effects may be undone. False in set-up, in
// on_commit(), and in the functions that start libraries.
inline bool may_be_undone() noexcept { return current_heap != nullptr && in_handler(); }

// If may_be_undone() is true, does not return: the event has failed, and `line` is the message.
inline void refuse_in_handler(const char* line) noexcept {
    if (may_be_undone()) abandon_handler(line);
}

}  // namespace nw::interpose

#define NW_LINE(name, why, allowed) \
    "the handler called " name "(), which " why "; allowed: " allowed

#define NW_PROCESS(name) \
    NW_LINE(name, "changes the whole process", "before the run, or in on_process_start()")
#define NW_CHILD(name)                                                             \
    NW_LINE(name, "creates a process, or replaces this one, and cannot be undone", \
            "child processes before the run or in finished()")

// NW_REFUSED(int, chdir, (const char* path), (path), true, line) defines chdir(). It calls libc's
// chdir(), except if the condition is true in a handler. Weak: programs in C may define functions
// with some of these names.
#define NW_REFUSED(Result, name, parameters, arguments, condition, line)                \
    static constinit auto original_##name = nw::interpose::original_of(&::name, #name); \
    extern "C" [[gnu::weak]] Result name parameters {                                   \
        if (condition) nw::interpose::refuse_in_handler(line);                          \
        return original_##name.function() arguments;                                    \
    }
