// SPDX-License-Identifier: Apache-2.0
// Counts memory of LPs that thread_local objects free when their thread ends. Such an object holds
// memory of an LP if it grew in a handler. When the object is destroyed, the memory may still
// belong to the LP, a rollback may have released the memory, or the LP may be gone. Freeing such
// memory is not an error of the engine and causes no damage. It is reported once, because data that
// an LP stores in thread_local objects are not rolled back.
#pragma once

#include <cstdint>

namespace nw {

// From now on the calling thread runs no handlers.
void begin_thread_end() noexcept;
bool at_thread_end() noexcept;

// Counts one call of free() with memory of an LP after begin_thread_end().
void note_freed_at_thread_end() noexcept;
// The number of these calls by all threads since the last query. Thread: any, after the other
// threads were joined.
std::uint64_t take_freed_at_thread_end() noexcept;

}  // namespace nw
