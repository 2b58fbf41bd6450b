// SPDX-License-Identifier: Apache-2.0
// Decides which memory of a program's set-up all LPs share (shared_arena.hpp), and which is libc's.
#include "memory/interpose/allocate.hpp"
#include "memory/interpose/decide.hpp"
#include "numa/os/libc_code.hpp"

namespace nw::interpose {

// libc and the loader write later to memory that they allocate for themselves, so it is not shared.
bool is_for_setup(const void* caller) noexcept {
    return SharedArena::fills() && !initializes_static() && !is_libc_code(caller);
}

}  // namespace nw::interpose
