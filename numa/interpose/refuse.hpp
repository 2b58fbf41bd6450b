// What the functions of the interposer have in common that a handler must not call.
#pragma once

#include "numa/handler/fault_guard.hpp"
#include "numa/handler/heap_scope.hpp"

namespace nw::interpose {

// Whether the caller is a model's handler, whose deeds may be undone. Set-up, on_commit() and the hooks
// that start libraries are not.
inline bool may_be_undone() noexcept { return current_heap != nullptr && in_handler(); }

// Does not return if it is; the event has then failed with that line.
inline void refuse_in_handler(const char* line) noexcept {
    if (may_be_undone()) abandon_handler(line);
}

}  // namespace nw::interpose
