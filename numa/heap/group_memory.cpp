#include "numa/heap/group_memory.hpp"

#include <new>

namespace nw {

LpHeap& GroupMemory::new_lp_heap() {
    return *new (platform_.allocate(sizeof(LpHeap))) LpHeap(*this);
}

void GroupMemory::validate() const {
    segments_.validate();
    platform_.validate();
    spans_.validate();
}

}  // namespace nw
