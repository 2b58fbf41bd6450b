// SPDX-License-Identifier: Apache-2.0
// Creates an LP heap without the LP record that usually contains it.
#pragma once

#include <new>

#include "memory/heap/group_memory.hpp"

namespace nw::test {

// The heap lives as long as the group. Throws std::bad_alloc.
inline LpHeap& new_lp_heap(GroupMemory& group) {
    return *new (group.platform().allocate(sizeof(LpHeap))) LpHeap(group);
}

}  // namespace nw::test
