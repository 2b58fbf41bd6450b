// A heap without the record of an LP, in which it stands otherwise.
#pragma once

#include <new>

#include "numa/heap/group_memory.hpp"

namespace nw::test {

// Lives as long as the group. Throws std::bad_alloc.
inline LpHeap& new_lp_heap(GroupMemory& group) {
    return *new (group.platform().allocate(sizeof(LpHeap))) LpHeap(group);
}

}  // namespace nw::test
