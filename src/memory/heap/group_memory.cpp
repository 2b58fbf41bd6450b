// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/group_memory.hpp"

namespace nw {

void GroupMemory::copy_mail(std::vector<PageRange>& ranges) const {
    ranges.clear();
    mail_.for_each_touched_range([&](std::byte* base, std::size_t bytes) {
        ranges.push_back({base, bytes, PageKind::mail});
    });
}

void GroupMemory::validate() const {
    segments_.validate();
    platform_.validate();
    spans_.validate();
}

}  // namespace nw
