// What malloc.cpp and new.cpp share: what to do with an address that is given back.
#pragma once

#include <cstddef>

namespace nw::interpose {

// All require: is_group_memory(address).
void free_group_memory(void* address) noexcept;
void* reallocate_group_memory(void* address, std::size_t bytes) noexcept;
std::size_t usable_size_of_group_memory(const void* address) noexcept;

// Whether this thread is initialising a function-local static, or what is done once in the process.
bool initialises_static() noexcept;

// Whether a handler may free memory of libc: if libc itself calls `function`, which is free() or
// realloc(), for what is its own (buffers of streams); or if temporaries of a static are being
// destroyed. `return_address` is the function's: what stands there may have nothing to do with who
// wants the memory freed, if that was a tail call.
bool may_free_libc_memory(const void* return_address, const void* function) noexcept;

}  // namespace nw::interpose
