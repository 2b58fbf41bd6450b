// What malloc.cpp and new.cpp share: what to do with an address that is given back.
#pragma once

#include <cstddef>

namespace nw::interpose {

// All require: is_group_memory(address).
void free_group_memory(void* address) noexcept;
void* reallocate_group_memory(void* address, std::size_t bytes) noexcept;
std::size_t usable_size_of_group_memory(const void* address) noexcept;

// Whether this thread is initialising a function-local static.
bool initialises_static() noexcept;

// Whether a handler may free memory of libc: if the caller, a code address, lies in libc or
// libstdc++, which free what is theirs; or if temporaries of a static are being destroyed.
bool may_free_libc_memory(const void* caller) noexcept;

}  // namespace nw::interpose
