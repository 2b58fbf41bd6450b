// SPDX-License-Identifier: Apache-2.0
#include "memory/region/bad_address.hpp"

#include <algorithm>
#include <cstring>

#include "memory/region/region.hpp"
#include "memory/region/shared_arena.hpp"

namespace nw {
namespace {

const char* words_for(const void* address) noexcept {
    if (SharedArena::contains(address))
        return "a write to memory that setup() allocated and all LPs share; data that changes "
               "must belong to the LP, data of a library must be created in on_process_start(); "
               "--protect-shared off permits the write";
    if (Region::contains(address))
        return "a bad pointer to LP memory that is not allocated, for example past the end of a "
               "container";
    return nullptr;
}

}  // namespace

bool describe_bad_address(const void* address, char* line, std::size_t bytes) noexcept {
    const char* const words = words_for(address);
    if (words == nullptr || bytes == 0) return false;
    const std::size_t length = std::min(std::strlen(words), bytes - 1);
    std::memcpy(line, words, length);
    line[length] = '\0';
    return true;
}

}  // namespace nw
