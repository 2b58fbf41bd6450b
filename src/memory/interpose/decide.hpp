// SPDX-License-Identifier: Apache-2.0
// Decisions about addresses that are freed or reallocated. malloc.cpp and new.cpp use them.
#pragma once

#include <cstddef>

namespace nw::interpose {

// The three functions require: is_group_memory(address).
void free_group_memory(void* address) noexcept;
void* reallocate_group_memory(void* address, std::size_t bytes) noexcept;
std::size_t usable_size_of_group_memory(const void* address) noexcept;

// True if this thread initializes a function-local static, or runs a function of pthread_once.
bool initializes_static() noexcept;

// True if a handler may free memory of libc. There are two cases. libc itself calls `function`,
// which is free() or realloc(), for its own memory (buffers of streams). Or the temporaries of a
// static are being destroyed. `return_address` is the return address of `function`. It is not
// enough to check that the return address is in libc: after a tail call, the return address belongs
// to code that has not called `function`.
bool may_free_libc_memory(const void* return_address, const void* function) noexcept;

}  // namespace nw::interpose
