// Objects that a thread destroys after all else, its thread_local ones, may hold memory of LPs, if a
// handler has let them grow. That memory is the LP's still, or a rollback has taken it back, or the LP is
// gone: what is freed then is none of the engine's doing, and does no harm. It is said once, since what
// an LP keeps there is not rolled back.
#pragma once

#include <cstdint>

namespace nw {

// From here on this thread runs no more handlers.
void begin_thread_end() noexcept;
bool at_thread_end() noexcept;

// An LP's memory was given to free() then.
void note_freed_at_thread_end() noexcept;
// How often, by all threads, since the last call. Any thread, once those have been joined.
std::uint64_t take_freed_at_thread_end() noexcept;

}  // namespace nw
