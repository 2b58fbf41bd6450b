// SPDX-License-Identifier: Apache-2.0
// Decides which memory of a program's set-up is shared by all LPs (shared_arena.hpp), and which
// memory belongs to libc.
#include "memory/interpose/allocate.hpp"
#include "memory/interpose/decide.hpp"
#include "numa/os/libc_code.hpp"

namespace nw::interpose {

// libc and the loader write later to memory that they allocate for themselves, so this memory is
// not shared.
bool is_for_setup(const void* caller) noexcept {
    return SharedArena::fills() && !initializes_static() && !is_libc_code(caller);
}

}  // namespace nw::interpose
