// SPDX-License-Identifier: Apache-2.0
// All pages that belong to groups, as ranges. The placement probe queries them, and
// pages_shared_between_groups() uses them to check that groups share no page.
//
// Thread: any, while the groups' owners continue. Each range is valid at the moment when it was
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numa/heap/group_memory.hpp"

namespace nw {

// The use of a page.
enum class PageKind : std::uint8_t { state, platform, mail };
inline constexpr std::size_t page_kinds = 3;
// The names in reports. Users know the platform as the engine.
constexpr const char* name_of(PageKind kind) noexcept {
    constexpr const char* names[page_kinds] = {"state", "engine", "mail"};
    return names[static_cast<std::size_t>(kind)];
}

// Calls visit(group, kind, base, bytes) for every range of whole pages: the segments of each group,
// then its mail. Throws std::bad_alloc.
template <class Visit>
void for_each_page_range(std::span<const GroupMemory* const> groups, Visit&& visit) {
    std::vector<Segment> segments;
    for (const GroupMemory* group : groups) {
        group->segments().copy_entries(segments);
        for (const Segment& segment : segments) {
            visit(*group, segment.kind == SegmentKind::state ? PageKind::state : PageKind::platform,
                  segment.base, segment.bytes);
        }
        group->mail().for_each_touched_range([&](std::byte* base, std::size_t bytes) {
            visit(*group, PageKind::mail, base, bytes);
        });
    }
}

// The number of pages that belong to more than one group; always 0, unless there is a bug.
std::uint64_t pages_shared_between_groups(std::span<const GroupMemory* const> groups);

}  // namespace nw
