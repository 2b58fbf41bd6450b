// Which memory of a program's set-up is what all LPs share (shared_arena.hpp), and which is libc's.
#include "numa/interpose/allocate.hpp"
#include "numa/interpose/decide.hpp"
#include "numa/os/libc_code.hpp"

namespace nw::interpose {

// What libc and the loader allocate for themselves, they write to later.
bool is_for_setup(const void* caller) noexcept {
    return SharedArena::fills() && !initialises_static() && !is_libc_code(caller);
}

}  // namespace nw::interpose
