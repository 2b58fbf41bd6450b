// SPDX-License-Identifier: Apache-2.0
// Lists all pages that belong to groups, as ranges of addresses. The placement probe queries them,
// and pages_shared_between_groups() uses them to check that groups share no page.
//
// Thread: any, while the groups' owners continue. Each range is valid at the moment when it was
// read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numa/place/placed_group.hpp"

namespace nw {

// Calls visit(group, range) for every range of whole pages: the segments of each group, then its
// mail. Throws std::bad_alloc.
template <class Visit>
void for_each_page_range(std::span<const PlacedGroup* const> groups, Visit&& visit) {
    std::vector<PageRange> ranges;
    for (const PlacedGroup* group : groups) {
        group->copy_segments(ranges);
        for (const PageRange& range : ranges) visit(*group, range);
        group->copy_mail(ranges);
        for (const PageRange& range : ranges) visit(*group, range);
    }
}

// The number of pages that belong to more than one group; always 0, unless there is a bug.
std::uint64_t pages_shared_between_groups(std::span<const PlacedGroup* const> groups);

}  // namespace nw
