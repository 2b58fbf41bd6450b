// SPDX-License-Identifier: Apache-2.0
#include "numa/heap/group_memory.hpp"

namespace nw {

void GroupMemory::validate() const {
    segments_.validate();
    platform_.validate();
    spans_.validate();
}

}  // namespace nw
