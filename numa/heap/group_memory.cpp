#include "numa/heap/group_memory.hpp"

#include <new>
#include <utility>

namespace nw {

LpHeap& GroupMemory::new_lp_heap() {
    // The smallest chunk of platform memory has room for two.
    static_assert(PlatformHeap::alignment == 2 * sizeof(LpHeap));
    LpHeap* place = std::exchange(next_heap_, nullptr);
    if (place == nullptr) {
        place = static_cast<LpHeap*>(platform_.allocate(PlatformHeap::alignment));
        next_heap_ = place + 1;
    }
    return *new (place) LpHeap(*this);
}

void GroupMemory::validate() const {
    segments_.validate();
    platform_.validate();
    spans_.validate();
}

}  // namespace nw
