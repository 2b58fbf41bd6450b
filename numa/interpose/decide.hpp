// What malloc.cpp and new.cpp share: what to do with an address that is given back.
#pragma once

#include <cstddef>

namespace nw::interpose {

// All require: is_group_memory(address).
void free_group_memory(void* address) noexcept;
void* reallocate_group_memory(void* address, std::size_t bytes) noexcept;
std::size_t usable_size_of_group_memory(const void* address) noexcept;

// True if the code address lies in libc or libstdc++.
bool called_by_runtime(const void* code) noexcept;

}  // namespace nw::interpose
